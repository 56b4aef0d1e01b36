//! A UDP relay between a gateway and its target: it records every packet on the wire, and does what a test asks of it.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the gateway to the target: telecommands.
    Up,
    /// From the target to the gateway: telemetry.
    Down,
}

/// A packet as it came to the relay, whatever was made of it then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Where it was going.
    pub direction: Direction,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is passed on in place of a packet: nothing to lose it, two of it to double it, other bytes to spoil it.
pub type Fate = Box<dyn FnMut(&Seen) -> Vec<Vec<u8>> + Send>;

/// A running relay; it ends when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    front: UdpSocket,
    /// Not connected: a target that is down for a while is silence here, no error.
    back: UdpSocket,
    target: SocketAddr,
    gateway: Mutex<Option<SocketAddr>>,
    seen: Mutex<Vec<Seen>>,
    news: Condvar,
    over: AtomicBool,
}

/// How often a thread looks whether the relay is over.
const LOOK: Duration = Duration::from_millis(20);

impl Proxy {
    /// A relay to the target at `target` that passes on everything as it is.
    ///
    /// # Errors
    /// Where no socket can be opened.
    pub fn start(target: SocketAddr) -> io::Result<Self> {
        Self::with_fate(target, Box::new(|seen| vec![seen.bytes.clone()]))
    }

    /// A relay that asks `fate` what to pass on.
    ///
    /// # Errors
    /// Where no socket can be opened.
    pub fn with_fate(target: SocketAddr, fate: Fate) -> io::Result<Self> {
        let front = UdpSocket::bind("127.0.0.1:0")?;
        let back = UdpSocket::bind("127.0.0.1:0")?;
        front.set_read_timeout(Some(LOOK))?;
        back.set_read_timeout(Some(LOOK))?;
        let address = front.local_addr()?;
        let shared = Arc::new(Shared {
            front,
            back,
            target,
            gateway: Mutex::default(),
            seen: Mutex::default(),
            news: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let fate = Arc::new(Mutex::new(fate));
        let threads = [Direction::Up, Direction::Down].map(|direction| {
            let (shared, fate) = (shared.clone(), fate.clone());
            thread::spawn(move || shared.relay(direction, &fate))
        });
        Ok(Self { address, shared, threads: threads.into() })
    }

    /// Where the gateway is to send its telecommands.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every packet that came so far, in order.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        locked(&self.shared.seen).clone()
    }

    /// The packets of one direction.
    #[must_use]
    pub fn bytes(&self, direction: Direction) -> Vec<Vec<u8>> {
        self.seen().into_iter().filter(|seen| seen.direction == direction).map(|seen| seen.bytes).collect()
    }

    /// Waits until `enough` of what came; `false` where it is not so after ten seconds.
    pub fn wait(&self, mut enough: impl FnMut(&[Seen]) -> bool) -> bool {
        let limit = Instant::now() + Duration::from_secs(10);
        let mut seen = locked(&self.shared.seen);
        while !enough(&seen) {
            let left = limit.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = self.shared.news.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Sends bytes to the gateway as if the target had; `false` before the gateway's first telecommand.
    ///
    /// # Errors
    /// Where they cannot be sent.
    pub fn inject(&self, bytes: &[u8]) -> io::Result<bool> {
        let Some(gateway) = *locked(&self.shared.gateway) else { return Ok(false) };
        self.shared.front.send_to(bytes, gateway).map(|_| true)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A relay that panicked has failed its test already: nothing came through.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn relay(&self, direction: Direction, fate: &Mutex<Fate>) {
        let mut buffer = vec![0; 65_536];
        while !self.over.load(Ordering::Relaxed) {
            match self.turn(direction, fate, &mut buffer) {
                Ok(()) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => eprintln!("relay, {direction:?}: {error}"),
            }
        }
    }

    fn turn(&self, direction: Direction, fate: &Mutex<Fate>, buffer: &mut [u8]) -> io::Result<()> {
        let length = match direction {
            Direction::Up => {
                let (length, from) = self.front.recv_from(buffer)?;
                *locked(&self.gateway) = Some(from);
                length
            }
            Direction::Down => match self.back.recv_from(buffer)? {
                (length, from) if from == self.target => length,
                _ => return Ok(()),
            },
        };
        let bytes = buffer.get(..length).unwrap_or_default().to_vec();
        let seen = Seen { direction, bytes };
        let forward = locked(fate)(&seen);
        locked(&self.seen).push(seen);
        self.news.notify_all();
        for bytes in forward {
            match (direction, *locked(&self.gateway)) {
                (Direction::Up, _) => self.back.send_to(&bytes, self.target)?,
                (Direction::Down, Some(gateway)) => self.front.send_to(&bytes, gateway)?,
                (Direction::Down, None) => 0,
            };
        }
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
