//! The target as a process of a test.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};

/// What the program prints before the address once it listens.
pub const LISTENING: &str = "listening on ";

/// A running `satrs-target`; it ends when this is dropped, and also when the test's process dies.
#[derive(Debug)]
pub struct TargetProcess {
    child: Child,
    address: SocketAddr,
    /// Held open: the program ends when its standard input closes.
    _stdin: Option<ChildStdin>,
}

impl TargetProcess {
    /// Starts the program (`env!("CARGO_BIN_EXE_satrs-target")` in a test) on a free port, or on the one given.
    ///
    /// # Errors
    /// Where it cannot be started, or does not say where it listens.
    pub fn start(program: impl AsRef<OsStr>, port: u16) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(["--listen", &format!("127.0.0.1:{port}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        match line.trim_end().strip_prefix(LISTENING).and_then(|address| address.parse().ok()) {
            Some(address) => Ok(Self { child, address, _stdin: stdin }),
            None => {
                child.kill()?;
                child.wait()?;
                Err(io::Error::other(format!("the target did not say where it listens, but {line:?}")))
            }
        }
    }

    /// Where it takes telecommands.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it at once: from here on the target is silent.
    ///
    /// # Errors
    /// Where the system does not let us.
    pub fn stop(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }
}

impl Drop for TargetProcess {
    fn drop(&mut self) {
        // A drop has nobody to tell; the closing standard input ends the program all the same.
        drop(self.stop());
    }
}
