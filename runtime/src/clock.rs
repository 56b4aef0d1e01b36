//! The one clock of a process: instants in the configured scale, and sleeps.
//!
//! Real time is the scale as it read when the process started, counted on by CLOCK_BOOTTIME: a step of the wall clock
//! moves nothing, and what the host sleeps counts. Virtual time stands still until everything in the process waits, then
//! goes to the earliest sleeper, exact to the nanosecond. What is deliberately not here: deadlines (the machine's) and
//! calendars (`stellar_vm::time`).
//!
//! **Invariant**: at one instant of virtual time, sleepers of [`Phase::Link`] wake, and everything waits again, before
//! those of [`Phase::Run`] wake. So at a deadline itself the fact wins.

mod boot;
mod scale;
mod sleepers;
mod virtual_time;

use std::{io, pin::Pin, sync::Arc, task};

use stellar_vm::time::{Instant, Scale};

use sleepers::{Key, Sleepers};

pub use scale::{from_utc, to_utc};
pub use virtual_time::runtime as virtual_runtime;

/// Who wakes first at one instant of virtual time. Real time does not tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// What happens outside: links, simulated targets.
    Link,
    /// What runs do about it: deadlines, timers.
    Run,
}

/// The clock of a process. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Mode>);

#[derive(Debug)]
enum Mode {
    Real(boot::Boot),
    Virtual(virtual_time::Virtual),
}

impl Clock {
    /// Real time in `scale`. To be called within a tokio runtime, which drives the sleeps.
    ///
    /// # Errors
    /// Where the kernel gives no timer on CLOCK_BOOTTIME.
    pub fn real(scale: Scale) -> io::Result<Self> {
        Ok(Self(Arc::new(Mode::Real(boot::Boot::start(scale)?))))
    }

    /// Virtual time that begins at `start`. To be called within a paused runtime of one thread ([`virtual_runtime`]).
    #[must_use]
    pub fn virtual_from(start: Instant) -> Self {
        Self(Arc::new(Mode::Virtual(virtual_time::Virtual::start(start))))
    }

    /// Whether time is virtual.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        matches!(*self.0, Mode::Virtual(_))
    }

    /// The scale of every instant.
    #[must_use]
    pub fn scale(&self) -> Scale {
        match &*self.0 {
            Mode::Real(boot) => boot.scale(),
            Mode::Virtual(time) => time.now().scale,
        }
    }

    /// Now; never less than before.
    #[must_use]
    pub fn now(&self) -> Instant {
        match &*self.0 {
            Mode::Real(boot) => boot.now(),
            Mode::Virtual(time) => time.now(),
        }
    }

    /// UTC as it reads now, the only look at the wall clock after the start: for `wait until TIME`.
    #[must_use]
    pub fn utc_now(&self) -> Instant {
        match &*self.0 {
            Mode::Real(_) => boot::utc_now(),
            Mode::Virtual(time) => to_utc(time.now()),
        }
    }

    /// Sleeps until `at`; in real time not a nanosecond less. An instant that has passed still lets whoever comes first
    /// by [`Phase`] go first.
    pub fn sleep_until(&self, at: Instant, phase: Phase) -> Sleep {
        let key = match &*self.0 {
            Mode::Real(boot) => boot.register(at, phase),
            Mode::Virtual(time) => time.register(at, phase),
        };
        Sleep { clock: self.clone(), key }
    }

    /// Holds virtual time still while it lives: for work outside of the runtime (a write by another thread) that the
    /// runtime cannot see. Nothing in real time.
    pub fn busy(&self) -> Busy {
        if let Mode::Virtual(time) = &*self.0 {
            time.busy();
        }
        Busy(self.clone())
    }

    fn sleepers(&self) -> &Sleepers {
        match &*self.0 {
            Mode::Real(boot) => boot.sleepers(),
            Mode::Virtual(time) => time.sleepers(),
        }
    }
}

/// A sleep; dropped, it is forgotten.
#[derive(Debug)]
#[must_use = "a sleep does nothing unless awaited"]
pub struct Sleep {
    clock: Clock,
    key: Key,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut task::Context<'_>) -> task::Poll<()> {
        self.clock.sleepers().poll(self.key, context)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.sleepers().forget(self.key);
    }
}

/// Virtual time stands still while this lives.
#[derive(Debug)]
#[must_use = "virtual time goes on when this is dropped"]
pub struct Busy(Clock);

impl Clone for Busy {
    fn clone(&self) -> Self {
        self.0.busy()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Mode::Virtual(time) = &*self.0.0 {
            time.idle();
        }
    }
}

#[cfg(test)]
mod tests;
