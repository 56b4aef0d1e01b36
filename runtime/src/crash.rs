//! Points at which a test lets the process end as by `kill -9`, so that every instant of a crash can be tried.
//!
//! Without the feature `crash-points`, which only the crate of the end-to-end tests asks for, nothing of this is there.
//! With it the environment variable `STELLAR_CRASH_POINT=name[:n]` ends the process at the n-th pass of the point, the
//! first where no number is given. `STELLAR_CRASH_PASSES=file` appends the name of each point that is passed to a file,
//! one a line.

use stellar_vm::event::Event;

/// A point of that name.
#[cfg(not(feature = "crash-points"))]
#[inline]
pub fn point(_name: &str) {}

/// A point of that name, and one for each kind of event: `append.after`, `append.after telecommand_sent`.
#[cfg(not(feature = "crash-points"))]
#[inline]
pub(crate) fn of_events(_name: &str, _events: &[Event]) {}

#[cfg(feature = "crash-points")]
pub use armed::point;

#[cfg(feature = "crash-points")]
pub(crate) fn of_events(name: &str, events: &[Event]) {
    for event in events {
        let json = stellar_vm::event::body_json(&event.body).unwrap_or_default();
        let kind = json.strip_prefix("{\"type\":\"").and_then(|rest| rest.split('"').next());
        point(&format!("{name} {}", kind.unwrap_or_default()));
    }
    point(name);
}

#[cfg(feature = "crash-points")]
mod armed {
    use std::{
        fs::{File, OpenOptions},
        io::Write,
        sync::{
            OnceLock,
            atomic::{AtomicU64, Ordering},
        },
    };

    use rustix::process::{Signal, getpid, kill_process};

    /// The point that the environment names, with the passes that are left.
    fn armed() -> Option<&'static (String, AtomicU64)> {
        static ARMED: OnceLock<Option<(String, AtomicU64)>> = OnceLock::new();
        let armed = ARMED.get_or_init(|| {
            let wanted = std::env::var("STELLAR_CRASH_POINT").ok()?;
            Some(match wanted.rsplit_once(':').and_then(|(name, n)| Some((name, n.parse().ok()?))) {
                Some((name, n)) => (name.to_owned(), AtomicU64::new(n)),
                None => (wanted, AtomicU64::new(1)),
            })
        });
        armed.as_ref()
    }

    /// Notes a pass where the environment asks for it.
    fn passed(name: &str) {
        static PASSES: OnceLock<Option<File>> = OnceLock::new();
        let passes = PASSES.get_or_init(|| {
            let path = std::env::var_os("STELLAR_CRASH_PASSES")?;
            OpenOptions::new().create(true).append(true).open(path).ok()
        });
        if let Some(mut file) = passes.as_ref() {
            // The test sees what is missing.
            let _ = file.write_all(format!("{name}\n").as_bytes());
        }
    }

    /// A point of that name: the process ends here where the environment says so.
    pub fn point(name: &str) {
        passed(name);
        let Some((_, left)) = armed().filter(|(wanted, _)| wanted == name) else { return };
        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
            // The test sees it where the system refuses: the process goes on.
            let _ = kill_process(getpid(), Signal::KILL);
            std::thread::park();
        }
    }
}
