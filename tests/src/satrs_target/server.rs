//! The socket of the target: satrs' UDP server in, reports to the sender of the last telecommand out.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;

use satrs::hal::std::udp_server::{ReceiveResult, UdpTcServer};
use satrs::queue::GenericSendError;
use satrs::tmtc::PacketAsVec;

use super::MAX_PACKET;
use super::distributor::Distributor;
use super::funnel::Funnel;

/// The target at its socket.
pub struct Server {
    udp: UdpTcServer<mpsc::Sender<PacketAsVec>, GenericSendError>,
    telecommands: mpsc::Receiver<PacketAsVec>,
    telemetry: mpsc::Receiver<PacketAsVec>,
    distributor: Distributor,
    funnel: Funnel,
}

impl Server {
    /// Binds `listen`; port 0 lets the system choose.
    ///
    /// # Errors
    /// Where the address is not on loopback (the target knows no authentication), or cannot be bound.
    pub fn bind(listen: SocketAddr) -> io::Result<Self> {
        if !listen.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{listen}` is not a loopback address")));
        }
        let (tc_sender, telecommands) = mpsc::channel();
        let (tm_sender, telemetry) = mpsc::channel();
        let udp = UdpTcServer::new(0, listen, MAX_PACKET, tc_sender)?;
        // satrs polls; here a thread of its own may as well wait.
        udp.socket.set_nonblocking(false)?;
        Ok(Self { udp, telecommands, telemetry, distributor: Distributor::new(tm_sender), funnel: Funnel::default() })
    }

    /// The address that was bound.
    ///
    /// # Errors
    /// Where the system cannot tell it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.udp.socket.local_addr()
    }

    /// Waits for one datagram, handles it, and sends what the services report.
    ///
    /// # Errors
    /// Where the socket fails; what a telecommand does wrong is printed to standard error and forgotten.
    pub fn turn(&mut self) -> Result<(), Box<dyn Error>> {
        let sender = match self.udp.try_recv_tc() {
            Ok((_, sender)) => sender,
            Err(ReceiveResult::NothingReceived) => return Ok(()),
            Err(other) => return Err(other.into()),
        };
        while let Ok(packet) = self.telecommands.try_recv() {
            if let Err(error) = self.distributor.handle(packet) {
                eprintln!("telecommand not handled: {error}");
            }
        }
        while let Ok(mut packet) = self.telemetry.try_recv() {
            if self.funnel.number(&mut packet.packet) {
                self.udp.socket.send_to(&packet.packet, sender)?;
            }
        }
        Ok(())
    }
}
