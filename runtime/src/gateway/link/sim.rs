//! The `sim` link: a simulated target made of the catalogue.
//!
//! Without a scenario every telecommand is accepted, started and completed, and every parameter is sent at its period;
//! a [`Scenario`] says otherwise, and what goes wrong. The line in the link's record is the hand-over itself, and the
//! target's state is rebuilt from it: a target does not die with its executor. It works in real and in virtual time, and
//! the same seed and hand-overs give the same samples and reports. `docs/reference/simulator.md` is its reference.

mod line;
mod profile;
mod random;
mod scenario;
mod state;
#[cfg(test)]
mod tests;
mod value;
mod yaml;

use std::{
    fmt, io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use stellar_vm::{catalogue::Platform, time::Instant};
use tokio::{sync::Notify, task::AbortHandle};

use self::{line::HandedOver, scenario::Control, state::State};
use super::{
    Boxed, Command, ControlError, EncodeError, Frame, HandOver, HandOverError, Inbox, Link, Past, Start, record::Record,
};
use crate::{
    clock::{Clock, Phase},
    gateway::resolve,
};

pub use scenario::{Scenario, ScenarioError};

/// Instances of one component at most.
const INSTANCES: i64 = 4_096;

/// What a simulated target is opened with.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// What kind of target it is.
    pub platform: Arc<Platform>,
    /// The clock of the process.
    pub clock: Clock,
    /// The file of its scenario.
    pub behaviours: Option<PathBuf>,
    /// Decides noise and probabilities.
    pub seed: u64,
    /// The file of the link's record.
    pub record: PathBuf,
}

/// Why a simulated target cannot be opened.
#[derive(Debug)]
pub enum SimError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// What is wrong with the scenario; never empty.
    Scenario(Vec<ScenarioError>),
    /// A component has more instances than are simulated.
    Instances(Arc<str>),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Scenario(errors) => lines(errors, f),
            Self::Instances(component) => {
                write!(f, "`{component}` has more than {INSTANCES} instances: that many are not simulated")
            }
        }
    }
}

fn lines(errors: &[ScenarioError], f: &mut impl fmt::Write) -> fmt::Result {
    for (place, error) in errors.iter().enumerate() {
        let before = if place > 0 { "\n" } else { "" };
        write!(f, "{before}{error}")?;
    }
    Ok(())
}

impl std::error::Error for SimError {}

/// A simulated target, with the link to it.
#[derive(Debug)]
pub struct SimLink {
    options: SimOptions,
    scenario: Scenario,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    shared: Arc<Shared>,
    record: Record,
    task: AbortHandle,
}

/// What the link and the task of the target share.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    start: Instant,
    state: Mutex<State>,
    /// The target has something else to do than it had before.
    changed: Notify,
}

impl SimLink {
    /// Reads the scenario and checks it against the catalogue. The target starts with [`Link::start`].
    ///
    /// # Errors
    /// Where the scenario cannot be read, or says what the catalogue does not have.
    pub fn open(options: SimOptions) -> Result<Self, SimError> {
        let wide = |range: (i64, i64)| range.1.saturating_sub(range.0) >= INSTANCES;
        if let Some(component) = options.platform.components.iter().find(|of| of.index.is_some_and(wide)) {
            return Err(SimError::Instances(Arc::clone(&component.name)));
        }
        let scenario = match &options.behaviours {
            None => Scenario::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| SimError::File(path.clone(), error))?;
                let name = path.display().to_string();
                Scenario::read(&name, &text, &options.platform).map_err(SimError::Scenario)?
            }
        };
        Ok(Self { options, scenario, running: None })
    }
}

impl Drop for SimLink {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.task.abort();
        }
    }
}

impl Link for SimLink {
    fn kind(&self) -> &'static str {
        "sim"
    }

    fn start(&mut self, start: Start) -> Result<Vec<Past>, String> {
        let SimOptions { platform, clock, seed, record: path, .. } = &self.options;
        let in_words = |error: io::Error| format!("`{}`: {error}", path.display());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(in_words)?;
        }
        let handed_over: Vec<HandedOver> = Record::read(path).map_err(in_words)?;
        let record = Record::open(path).map_err(in_words)?;
        let now = clock.now();
        let began = line::began(path, now).map_err(in_words)?;
        let mut state = State::new(Arc::clone(platform), self.scenario.clone(), *seed, began);
        state.rebuild(&handed_over, began, now.since(began));
        let shared =
            Arc::new(Shared { clock: clock.clone(), start: began, state: Mutex::new(state), changed: Notify::new() });
        let task = tokio::spawn(live(Arc::clone(&shared), start.inbox)).abort_handle();
        self.running = Some(Running { shared, record, task });
        let past = |line: HandedOver| Past {
            name: Arc::clone(&line.order.id),
            id: line.order.id,
            deadline: Some(line.order.deadline),
        };
        Ok(handed_over.into_iter().map(past).collect())
    }

    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError> {
        let id = &command.id;
        Ok(Frame { id: Arc::clone(id), name: Arc::clone(id), exclusive: false, bytes: Vec::new() })
    }

    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>> {
        Box::pin(std::future::ready(self.take(hand_over)))
    }

    fn control(&mut self, request: &str) -> Result<String, ControlError> {
        let control = Control::read(request, &self.options.platform).map_err(|errors| {
            let mut words = String::new();
            // Writing into a text never fails.
            let _ = lines(&errors, &mut words);
            ControlError(words)
        })?;
        let Some(running) = &self.running else { return Err(ControlError("the target has not started".to_owned())) };
        let now = running.shared.elapsed();
        let answer = running.shared.state().control(control, now);
        running.shared.changed.notify_one();
        Ok(answer)
    }
}

impl SimLink {
    fn take(&mut self, hand_over: HandOver<'_>) -> Result<(), HandOverError> {
        let refused = |why: &str| HandOverError::Refused(why.to_owned());
        let Some(running) = &mut self.running else { return Err(refused("the target has not started")) };
        let HandOver { order, at, .. } = hand_over;
        let (command, _) = resolve::command(&self.options.platform, order).map_err(HandOverError::Refused)?;
        let mut state = running.shared.state();
        let elapsed = at.since(running.shared.start);
        let fate = state.fate(&command, elapsed).map_err(HandOverError::Refused)?;
        let line = HandedOver { at, order: order.clone(), fate };
        running.record.append(&line).map_err(|error| HandOverError::Refused(error.to_string()))?;
        state.arrive(&command, &line.fate, elapsed);
        drop(state);
        running.shared.changed.notify_one();
        Ok(())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elapsed(&self) -> i64 {
        self.clock.now().since(self.start)
    }
}

/// The life of the target: what is due, when it is due.
async fn live(shared: Arc<Shared>, inbox: Inbox) {
    loop {
        let due = shared.state().next();
        let pause = async {
            match due {
                Some(due) => shared.clock.sleep_until(shared.start.after(due), Phase::Link).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = shared.changed.notified() => continue,
            () = pause => {}
        }
        let now = shared.clock.now();
        let received = shared.state().advance(now.since(shared.start));
        for one in received {
            if inbox.deliver(one, now).await.is_err() {
                return;
            }
        }
    }
}
