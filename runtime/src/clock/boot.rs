//! Real time: the scale at the start, counted on by CLOCK_BOOTTIME.
//!
//! One timer of the kernel (timerfd on CLOCK_BOOTTIME) stands for all sleepers and is set to the first of them. Unlike
//! the timers of tokio it goes on while the host sleeps, and fires at once after waking where its time has passed.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use rustix::time::{ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use stellar_vm::time::{Instant, Scale};
use tokio::{io::unix::AsyncFd, task::AbortHandle};

use super::{
    Phase,
    scale::from_utc,
    sleepers::{Key, Sleepers},
};

const SECOND: i64 = 1_000_000_000;

#[derive(Debug)]
pub(super) struct Boot {
    shared: Arc<Shared>,
    driver: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    /// An instant, and what CLOCK_BOOTTIME read at it.
    start: Instant,
    boot: i64,
    /// The greatest instant given, so that none is less than one before, on any thread.
    last: AtomicI64,
    timer: AsyncFd<OwnedFd>,
    sleepers: Sleepers,
}

impl Boot {
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the descriptor is owned here, and neither replaced nor closed before"
    )]
    pub(super) fn start(scale: Scale) -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = AsyncFd::new(rustix::time::timerfd_create(TimerfdClockId::Boottime, flags)?)?;
        let start = from_utc(utc_now().ns, scale);
        let boot = read(ClockId::Boottime);
        let last = AtomicI64::new(start.ns);
        let shared = Arc::new(Shared { start, boot, last, timer, sleepers: Sleepers::default() });
        let driver = tokio::spawn(drive(Arc::clone(&shared))).abort_handle();
        Ok(Self { shared, driver })
    }

    pub(super) fn scale(&self) -> Scale {
        self.shared.start.scale
    }

    pub(super) fn now(&self) -> Instant {
        self.shared.now()
    }

    pub(super) fn sleepers(&self) -> &Sleepers {
        &self.shared.sleepers
    }

    pub(super) fn register(&self, at: Instant, phase: Phase) -> Key {
        let (key, first) = self.shared.sleepers.add(at.ns, phase);
        if first {
            self.shared.arm();
        }
        key
    }
}

impl Drop for Boot {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Shared {
    fn now(&self) -> Instant {
        let read = self.start.after(read(ClockId::Boottime).saturating_sub(self.boot));
        let before = self.last.fetch_max(read.ns, Ordering::AcqRel);
        Instant { ns: read.ns.max(before), scale: read.scale }
    }

    /// Sets the timer to the first sleeper.
    fn arm(&self) {
        self.sleepers.at_first(|first| {
            // Zero would disarm it; what has passed fires at once.
            let due = first.due.saturating_sub(self.start.ns).saturating_add(self.boot).max(1);
            let it_value = Timespec { tv_sec: due / SECOND, tv_nsec: due % SECOND };
            let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
            // Of a timer that exists, an absolute time that is not negative is never refused.
            let _ = rustix::time::timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &once);
        });
    }
}

async fn drive(shared: Arc<Shared>) {
    while let Ok(mut ready) = shared.timer.readable().await {
        let mut expirations = [0; 8];
        // Nothing to read: it was set anew meanwhile.
        let _ = rustix::io::read(shared.timer.get_ref(), &mut expirations);
        ready.clear_ready();
        let now = shared.now();
        shared.sleepers.wake_while(|key| key.due <= now.ns);
        shared.arm();
    }
}

/// UTC as the wall clock reads.
pub(super) fn utc_now() -> Instant {
    Instant { ns: read(ClockId::Realtime), scale: Scale::Utc }
}

fn read(clock: ClockId) -> i64 {
    let now = rustix::time::clock_gettime(clock);
    now.tv_sec.saturating_mul(SECOND).saturating_add(now.tv_nsec)
}
