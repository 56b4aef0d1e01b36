//! A `stellar` process on a terminal: a pseudo-terminal that the test reads and types on.
#![expect(clippy::expect_used, clippy::panic, reason = "a harness fails its test at once")]

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Instant,
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::mission::HANG;

/// A process on a terminal of its own.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    printed: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Starts a command on a new terminal, which is its controlling one: Ctrl-C on it is a signal.
    #[must_use]
    pub fn start(command: &Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("it has a name").into_string().expect("a path");
        let open = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).expect("the terminal opens"));
        let mut on = Command::new("setsid");
        on.arg("--ctty").arg("--wait").arg(command.get_program()).args(command.get_args());
        on.current_dir(command.get_current_dir().expect("a folder"));
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => on.env(key, value),
                None => on.env_remove(key),
            };
        }
        on.env("TERM", "xterm").stdin(open()).stdout(open()).stderr(open());
        let child = on.spawn().expect("setsid starts");
        let mut screen = File::from(master);
        let keyboard = screen.try_clone().expect("a second handle");
        let (sender, printed) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // An error when the last process on the terminal is gone.
            while let Ok(read @ 1..) = screen.read(&mut bytes) {
                let Some(part) = bytes.get(..read) else { return };
                if sender.send(part.to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keyboard, printed, seen: String::new() }
    }

    /// Types, as it stands: a line needs its `\n`, Ctrl-C is `\u{3}`, Ctrl-D `\u{4}`.
    pub fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Waits until this was printed since the last wait.
    pub fn shows(&mut self, wanted: &str) {
        let begin = Instant::now();
        loop {
            if let Some((_, rest)) = self.seen.split_once(wanted) {
                self.seen = rest.to_owned();
                return;
            }
            let left = HANG.saturating_sub(begin.elapsed());
            match self.printed.recv_timeout(left) {
                Ok(part) => self.seen.push_str(&String::from_utf8_lossy(&part)),
                Err(error) => panic!("no `{wanted}` on the terminal ({error}), but\n{}", self.seen),
            }
        }
    }

    /// Waits for the end of the process, without another key; gives its exit code.
    pub fn ends(mut self) -> i32 {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("the process can be waited for") {
                return status.code().unwrap_or(-1);
            }
            if begin.elapsed() > HANG {
                panic!("the process on the terminal does not end; last it printed\n{}", self.seen);
            }
            thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

impl Drop for Terminal {
    /// Hangs up, which ends what is still there.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.keyboard.write_all(b"\x03\x03");
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
