//! Lines typed on the terminal.
//!
//! They are read by a thread of their own that nobody waits for: a read that is under way must neither keep the process
//! from ending, nor hold virtual time, as one of tokio's blocking tasks would.

use std::{
    io::{self, BufRead},
    thread,
};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines, as they come.
pub(crate) struct Typed(Option<UnboundedReceiver<String>>);

impl Typed {
    /// What is typed, where somebody is there to type.
    ///
    /// # Errors
    /// No thread can be made.
    pub(crate) fn listen(somebody: bool) -> io::Result<Self> {
        if !somebody {
            return Ok(Self(None));
        }
        let (lines, typed) = unbounded_channel();
        let read = move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                if lines.send(line).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("terminal".to_owned()).spawn(read)?;
        Ok(Self(Some(typed)))
    }

    /// The next line; `None` once, when there will be no more. Never, where nobody is there. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let Some(typed) = &mut self.0 else { return std::future::pending().await };
        let line = typed.recv().await;
        if line.is_none() {
            self.0 = None;
        }
        line
    }
}
