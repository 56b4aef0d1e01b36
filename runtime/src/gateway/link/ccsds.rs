//! The `ccsds` link: telecommands as PUS-C packets, verification by service 1, telemetry by a table of the catalogue.
//!
//! `codec` is pure and holds both directions; this file joins it to the network (`udp`) and to the link's own record.
//! The bytes that come are hostile: what cannot be used is counted (`oddity`), told once a kind, and never stops the link.

mod bits;
mod codec;
mod convert;
mod counts;
mod field;
mod handover;
mod oddity;
mod packet;
mod report;
mod request;
mod table;
mod telecommand;
#[cfg(test)]
mod testing;
mod time;
mod udp;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stellar_vm::catalogue::Platform;
use stellar_vm::time::Instant;
use stellar_vm::value::Value;

pub use codec::{Codec, Encoded, Received};
pub use field::{FieldName, Unwritable};
pub use handover::HandOver;
pub use oddity::{MAX_KINDS, Oddities, Oddity};
pub use report::{FailureCode, Phase, Report};
pub use request::RequestId;
pub use table::{Sample, TableError};
pub use telecommand::EncodeError;

use super::record::Record;
use udp::{Incoming, Udp};

/// Where a target is, and where its link keeps its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CcsdsOptions {
    /// The address that takes telecommands, and that telemetry comes from.
    pub target: SocketAddr,
    /// The address that telemetry is sent to; any port of the right interface, where none is given.
    pub local: Option<SocketAddr>,
    /// The file of the link's record.
    pub record: PathBuf,
}

/// Why a link cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The catalogue's `ccsds` part cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The record cannot be opened, read or written.
    #[error("the link's record `{path}`: {error}")]
    Record {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The socket cannot be opened.
    #[error("no socket for the target at {target}: {error}")]
    Socket {
        /// Where the target is.
        target: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
}

/// Why a telecommand was not handed over: it never left.
#[derive(Debug, thiserror::Error)]
pub enum NotHandedOver {
    /// It could not be written into the link's record.
    #[error("the link's record cannot be written: {0}")]
    Record(io::Error),
    /// The network refused it.
    #[error("the network refused it: {0}")]
    Network(io::Error),
}

/// The link of one target.
#[derive(Debug)]
pub struct CcsdsLink {
    udp: Udp,
    codec: Mutex<Codec>,
    record: Mutex<Record>,
}

impl CcsdsLink {
    /// Opens the link of a target of `platform`. Its sequence counts go on where the record ends; see also
    /// [`CcsdsLink::used`].
    ///
    /// # Errors
    /// Where the catalogue, the record or the network does not allow it.
    pub async fn open(platform: Arc<Platform>, options: &CcsdsOptions) -> Result<Self, OpenError> {
        let mut codec = Codec::new(platform)?;
        let wrong = |error| OpenError::Record { path: options.record.clone(), error };
        for entry in Record::read::<HandOver>(&options.record).map_err(wrong)? {
            RequestId::parse(&entry.request).into_iter().for_each(|request| codec.used(request));
        }
        let record = Record::open(&options.record).map_err(wrong)?;
        let udp = Udp::bind(options.target, options.local).await;
        let udp = udp.map_err(|error| OpenError::Socket { target: options.target, error })?;
        Ok(Self { udp, codec: Mutex::new(codec), record: Mutex::new(record) })
    }

    /// Encodes a telecommand; see [`Codec::encode`]. Nothing has left, and no sequence count is used up.
    ///
    /// # Errors
    /// Where the catalogue has no packet for it, or a value does not go into its field.
    pub fn encode(
        &self,
        telecommand: u32,
        index: Option<i64>,
        args: &[Value],
        under_way: impl Fn(RequestId) -> bool,
    ) -> Result<Encoded, EncodeError> {
        locked(&self.codec).encode(telecommand, index, args, under_way)
    }

    /// Goes on counting behind a telecommand that was claimed under this name.
    pub fn used(&self, request: RequestId) {
        locked(&self.codec).used(request);
    }

    /// Hands a telecommand over to the network, at most once: its line in the record is written first.
    ///
    /// # Errors
    /// Where it did not leave. A line of the record that tells of it is followed by one that says so.
    pub async fn hand_over(&self, id: &str, at: Instant, packet: &Encoded) -> Result<(), NotHandedOver> {
        let line =
            |bytes, refused| HandOver { id: id.to_owned(), at, request: packet.request.to_string(), bytes, refused };
        self.used(packet.request);
        let first = line(Some(handover::hex(&packet.bytes)), None);
        locked(&self.record).append(&first).map_err(NotHandedOver::Record)?;
        match self.udp.send(&packet.bytes).await {
            Ok(()) => Ok(()),
            Err(error) => {
                let refused = line(None, Some(error.to_string()));
                locked(&self.record).append(&refused).map_err(NotHandedOver::Record)?;
                Err(NotHandedOver::Network(error))
            }
        }
    }

    /// Waits for the next datagram that holds anything of use, and reads it. Cancelling it loses nothing.
    ///
    /// # Errors
    /// Where the socket fails; asking again is allowed.
    pub async fn receive(&self) -> io::Result<Vec<Received>> {
        loop {
            match self.udp.receive().await? {
                Incoming::Stranger(_) => locked(&self.codec).oddities().note(Oddity::Stranger),
                Incoming::Datagram(datagram) => {
                    let received = locked(&self.codec).decode(&datagram);
                    if !received.is_empty() {
                        return Ok(received);
                    }
                }
            }
        }
    }

    /// What came for the first time since this was last asked and could not be used: what is to be logged.
    pub fn take_news(&self) -> Vec<Oddity> {
        locked(&self.codec).oddities().take_news()
    }

    /// How often each kind of what could not be used came.
    pub fn oddities(&self) -> BTreeMap<Oddity, u64> {
        locked(&self.codec).oddities().counts().clone()
    }
}

/// Nothing that is done under these locks leaves a half-done state behind, should it panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use stellar_vm::time::Scale;
    use tokio::net::UdpSocket;

    use super::testing::{platform, telecommand};
    use super::*;

    const AT: Instant = Instant { ns: 0, scale: Scale::Utc };

    async fn open(folder: &tempfile::TempDir, target: SocketAddr) -> CcsdsLink {
        let record = folder.path().join("link.jsonl");
        CcsdsLink::open(platform(), &CcsdsOptions { target, local: None, record }).await.unwrap()
    }

    fn entries(folder: &tempfile::TempDir) -> Vec<HandOver> {
        Record::read(&folder.path().join("link.jsonl")).unwrap()
    }

    #[tokio::test]
    async fn what_leaves_is_in_the_record_and_counts_go_on_over_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = target.local_addr().unwrap();
        for (id, packet) in [("A", "1802c00000062f11010000a7d2"), ("B", "1802c00100062f11010000e001")] {
            let link = open(&folder, address).await;
            let ping = link.encode(telecommand::PING, None, &[], |_| false).unwrap();
            link.hand_over(id, AT, &ping).await.unwrap();
            let mut buffer = [0; 64];
            let (length, _) = target.recv_from(&mut buffer).await.unwrap();
            assert_eq!(handover::hex(&buffer[..length]), packet);
            let last = entries(&folder).pop().unwrap();
            assert_eq!((last.id.as_str(), last.bytes.as_deref(), last.refused), (id, Some(packet), None));
        }
    }

    #[tokio::test]
    async fn what_the_network_refuses_is_noted_as_never_left() {
        let folder = tempfile::tempdir().unwrap();
        // Nothing can be sent to port 0.
        let link = open(&folder, "127.0.0.1:0".parse().unwrap()).await;
        let ping = link.encode(telecommand::PING, None, &[], |_| false).unwrap();
        assert!(matches!(link.hand_over("A", AT, &ping).await, Err(NotHandedOver::Network(_))));
        let entries = entries(&folder);
        assert_eq!(entries.len(), 2);
        assert!(entries[0].bytes.is_some() && entries[0].refused.is_none());
        assert!(entries[1].bytes.is_none() && entries[1].refused.is_some());
        let next = link.encode(telecommand::PING, None, &[], |_| false).unwrap();
        assert_ne!(next.request, ping.request, "a name is used once");
    }

    #[tokio::test]
    async fn strangers_and_noise_are_counted_and_what_is_of_use_comes_through() {
        let folder = tempfile::tempdir().unwrap();
        let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let link = open(&folder, target.local_addr().unwrap()).await;
        let to = link.udp.local().unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let pong = packet::tests::telemetry(17, 2, &[]);
        stranger.send_to(&pong, to).await.unwrap();
        target.send_to(&[0xff; 30], to).await.unwrap();
        target.send_to(&pong, to).await.unwrap();
        assert_eq!(link.receive().await.unwrap().len(), 1);
        assert_eq!(link.take_news(), [Oddity::Stranger, Oddity::Version]);
        assert_eq!(link.oddities().len(), 2);
    }
}
