//! Packets in UDP datagrams: one telecommand each, one or more telemetry packets each.
//!
//! The socket is not connected: an ICMP answer to an earlier datagram must not be taken for the failure of a later one,
//! and what silence means is told by the verification window alone.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::UdpSocket;

/// The longest datagram.
const LONGEST: usize = 65_536;

/// A socket for one target.
#[derive(Debug)]
pub(super) struct Udp {
    socket: UdpSocket,
    target: SocketAddr,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A datagram of the target.
    Datagram(Vec<u8>),
    /// One of somebody else.
    Stranger(SocketAddr),
}

impl Udp {
    /// A socket at `local`, or at any port of the interface that the target is reached by.
    ///
    /// To be called within a tokio runtime.
    pub(super) fn bind(target: SocketAddr, local: Option<SocketAddr>) -> io::Result<Self> {
        let any = || match target {
            SocketAddr::V4(v4) if v4.ip().is_loopback() => SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            SocketAddr::V6(v6) if v6.ip().is_loopback() => SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = std::net::UdpSocket::bind(local.unwrap_or_else(any))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: UdpSocket::from_std(socket)?, target })
    }

    /// Hands a packet to the system; after an error none of it has left.
    pub(super) async fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.socket.send_to(packet, self.target).await.map(|_| ())
    }

    /// Waits for the next datagram.
    pub(super) async fn receive(&self) -> io::Result<Incoming> {
        let mut buffer = vec![0; LONGEST];
        let (length, from) = self.socket.recv_from(&mut buffer).await?;
        buffer.truncate(length);
        Ok(if from == self.target { Incoming::Datagram(buffer) } else { Incoming::Stranger(from) })
    }
}

#[cfg(test)]
impl Udp {
    pub(super) fn local(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_tells_its_target_from_strangers() {
        let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let udp = Udp::bind(target.local_addr().unwrap(), None).unwrap();
        udp.send(&[1, 2, 3]).await.unwrap();
        let mut buffer = [0; 8];
        let (length, from) = target.recv_from(&mut buffer).await.unwrap();
        assert_eq!((&buffer[..length], from), (&[1, 2, 3][..], udp.socket.local_addr().unwrap()));

        let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        stranger.send_to(&[9], from).await.unwrap();
        target.send_to(&[4, 5], from).await.unwrap();
        assert_eq!(udp.receive().await.unwrap(), Incoming::Stranger(stranger.local_addr().unwrap()));
        assert_eq!(udp.receive().await.unwrap(), Incoming::Datagram(vec![4, 5]));
    }

    #[tokio::test]
    async fn a_target_that_is_gone_is_silence_and_no_error() {
        let target = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = target.local_addr().unwrap();
        drop(target);
        let udp = Udp::bind(address, None).unwrap();
        for _ in 0..3 {
            udp.send(&[1]).await.unwrap();
        }
    }
}
