//! The `ccsds` link: telecommands as PUS-C packets, verification by service 1, telemetry by a table of the catalogue.
//!
//! Two pure halves, `encoder` and `decoder`, are joined here to the network (`udp`), to the link's own record and to the
//! gateway. The bytes that come are hostile: what cannot be used (`oddity`) is told, and never stops the link.

mod bits;
mod convert;
mod counts;
mod decoder;
mod encoder;
mod field;
mod line;
mod oddity;
mod packet;
mod receiver;
mod report;
mod request;
mod table;
mod telecommand;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod time;
mod udp;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use stellar_vm::catalogue::Platform;
use stellar_vm::time::Instant;
use tokio::task::AbortHandle;

pub use line::RecordLine;
pub use table::TableError;

use super::record::Record;
use super::{Boxed, Command, EncodeError, Frame, HandOver, HandOverError, Link, Past, Received, Start};
use crate::clock::Clock;
use decoder::Decoder;
use encoder::Encoder;
use receiver::Receiver;
use request::RequestId;
use udp::Udp;

/// What the link makes of the datagrams of a platform, without the network: for whoever has their bytes.
#[derive(Debug)]
pub struct Datagrams(Decoder);

impl Datagrams {
    /// The reader of a platform.
    ///
    /// # Errors
    /// Where the `ccsds` part of the catalogue cannot be used.
    pub fn new(platform: Arc<Platform>) -> Result<Self, TableError> {
        Decoder::new(platform).map(Self)
    }

    /// What a datagram tells the gateway, in the order of its packets; what could not be used stands last.
    /// `replayed_after` is that of [`CcsdsOptions`], `utc` when it was received.
    #[must_use]
    pub fn read(&self, datagram: &[u8], replayed_after: Option<i64>, utc: Instant) -> Vec<Received> {
        receiver::read(&self.0, datagram, replayed_after, utc)
    }
}

/// Where a target is, and what its link is to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CcsdsOptions {
    /// The address that takes telecommands, and that telemetry comes from.
    pub target: SocketAddr,
    /// The address that telemetry is sent to; any port of the right interface, where none is given.
    pub local: Option<SocketAddr>,
    /// The file of the link's record.
    pub record: PathBuf,
    /// Telemetry whose on-board time is older than this many nanoseconds is played back: archived, never judged. Without
    /// it nothing is taken to be; it asks for an on-board clock that is right.
    pub replayed_after: Option<i64>,
}

/// The link of one target.
#[derive(Debug)]
pub struct CcsdsLink {
    options: CcsdsOptions,
    clock: Clock,
    encoder: Encoder,
    /// Taken by the task that receives.
    decoder: Option<Decoder>,
    open: Option<Open>,
}

/// What is there once the link is started.
#[derive(Debug)]
struct Open {
    udp: Arc<Udp>,
    record: Record,
    receiver: AbortHandle,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.receiver.abort();
    }
}

impl CcsdsLink {
    /// The link of a target of `platform`; nothing is opened before its start.
    ///
    /// # Errors
    /// Where the `ccsds` part of the catalogue cannot be used.
    pub fn new(platform: Arc<Platform>, options: CcsdsOptions, clock: Clock) -> Result<Self, TableError> {
        let decoder = Some(Decoder::new(platform.clone())?);
        Ok(Self { options, clock, encoder: Encoder::new(platform), decoder, open: None })
    }

    /// What the record tells that it handed over; their names are taken, those of refused ones too.
    fn past(&mut self) -> Result<Vec<Past>, String> {
        let lines = Record::read::<RecordLine>(&self.options.record);
        let mut past: Vec<Past> = Vec::new();
        for line in lines.map_err(|error| format!("the link's record: {error}"))? {
            self.taken(&line.name, Some(line.deadline));
            let RecordLine { id, name, deadline, refused, .. } = line;
            match refused {
                None => past.push(Past { id, name, deadline: Some(deadline) }),
                // The note stands right behind the line that it takes back.
                Some(_) => drop(past.pop_if(|before| before.id == id)),
            }
        }
        Ok(past)
    }

    fn taken(&mut self, name: &str, deadline: Option<Instant>) {
        if let Some(request) = RequestId::parse(name) {
            self.encoder.used(request, deadline);
        }
    }
}

impl Link for CcsdsLink {
    fn kind(&self) -> &'static str {
        "ccsds"
    }

    fn start(&mut self, Start { inbox, claimed }: Start) -> Result<Vec<Past>, String> {
        let decoder = self.decoder.take().ok_or("the link has been started before")?;
        let past = self.past()?;
        // Behind those of the record: a claim is the younger, or stands in the record in the same order.
        for Past { name, deadline, .. } in &claimed {
            self.taken(name, *deadline);
        }
        let CcsdsOptions { target, local, record: path, replayed_after } = &self.options;
        let record = Record::open(path).map_err(|error| format!("the link's record `{}`: {error}", path.display()))?;
        let udp =
            Udp::bind(*target, *local).map_err(|error| format!("no socket for the target at {target}: {error}"))?;
        let udp = Arc::new(udp);
        let receiver = Receiver::new(udp.clone(), decoder, self.clock.clone(), *replayed_after, inbox);
        let receiver = tokio::spawn(receiver.run()).abort_handle();
        self.open = Some(Open { udp, record, receiver });
        Ok(past)
    }

    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError> {
        let encoded = self.encoder.encode(command, self.clock.now()).map_err(|error| EncodeError(error.to_string()))?;
        Ok(Frame {
            id: command.id.clone(),
            name: encoded.request.to_string().into(),
            exclusive: false,
            bytes: encoded.bytes,
        })
    }

    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>> {
        Box::pin(async move {
            let refused = |what: String| HandOverError::Refused(what);
            let open = self.open.as_mut().ok_or_else(|| refused("the link has not been started".to_owned()))?;
            let line = RecordLine::of(&hand_over);
            open.record.append(&line).map_err(|error| refused(format!("the link's record: {error}")))?;
            let Err(error) = open.udp.send(&hand_over.frame.bytes).await else { return Ok(()) };
            let why = format!("the network refused it: {error}");
            // Where not even this can be written the line before stands: the record tells of more than left, never of less.
            match open.record.append(&line.refused(error.to_string())) {
                Ok(()) => Err(refused(why)),
                Err(second) => Err(refused(format!("{why}; nor could the link's record be written: {second}"))),
            }
        })
    }
}
