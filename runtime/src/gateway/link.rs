//! Links: how telecommands reach a target, and how what it sends arrives.
//!
//! A [`Link`] encodes, hands over, and delivers what it receives into its [`Inbox`]. It knows nothing of runs, claims or
//! orders. Names are how it tells telecommands apart on the wire: the gateway finds the identifier of each name.

pub mod ccsds;
pub mod record;
pub mod sim;

use std::{fmt, pin::Pin, sync::Arc};

use stellar_vm::{catalogue::Stage, time::Instant, value::Value};
use tokio::sync::mpsc;

use super::TelecommandOrder;

/// A future that a link gives.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A telecommand resolved against the catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Identifier.
    pub id: Arc<str>,
    /// Index into the platform's `telecommands`.
    pub telecommand: u32,
    /// Index of the component, where it has one.
    pub index: Option<i64>,
    /// Value of every argument, in the order of the catalogue.
    pub args: Vec<Value>,
    /// Route.
    pub route: Arc<str>,
    /// End of its verification window: till then its name may not be used for another.
    pub deadline: Instant,
}

/// A telecommand as it goes over the link.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Identifier.
    pub id: Arc<str>,
    /// What reports name it by.
    pub name: Arc<str>,
    /// Whether the target cannot tell two of this name apart: while one is under way, the next one waits.
    pub exclusive: bool,
    /// What the link writes.
    pub bytes: Vec<u8>,
}

/// What is handed over.
#[derive(Debug, Clone, Copy)]
pub struct HandOver<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The telecommand as it was ordered, for the record.
    pub order: &'a TelecommandOrder,
    /// Now, as the gateway looked at the deadline.
    pub at: Instant,
}

/// Why a telecommand cannot be encoded, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EncodeError(pub String);

/// Why a hand-over did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandOverError {
    /// Nothing left, for certain.
    #[error("{0}")]
    Refused(String),
    /// It may have left, in part or whole: its reports are followed.
    #[error("{0}")]
    Doubtful(String),
}

/// Why a link cannot do what an operator asks of it, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ControlError(pub String);

/// A telecommand of an earlier process.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Identifier.
    pub id: Arc<str>,
    /// What reports name it by.
    pub name: Arc<str>,
    /// End of its verification window, where that is known.
    pub deadline: Option<Instant>,
}

/// What a link is started with.
#[derive(Debug)]
pub struct Start {
    /// Where it delivers.
    pub inbox: Inbox,
    /// What was claimed before and has no result, the oldest first: it may have left. Names go on behind them, and
    /// behind those of the link's own record.
    pub claimed: Vec<Past>,
}

/// A way to a target.
pub trait Link: Send {
    /// What kind it is, as the log of a run says it: `sim`, `ccsds`.
    fn kind(&self) -> &'static str;

    /// Starts to receive, and gives what its own record says that it handed over before, the oldest first. Called once,
    /// within a tokio runtime, before anything else.
    ///
    /// # Errors
    /// In words, where it can never work (a bad address); a target that does not answer is no error.
    fn start(&mut self, start: Start) -> Result<Vec<Past>, String>;

    /// Encodes, and gives the name that reports will have. Nothing leaves.
    ///
    /// # Errors
    /// Where the catalogue has no encoding for it, or a value does not go into its field.
    fn encode(&mut self, command: &Command) -> Result<Frame, EncodeError>;

    /// Hands a frame over, first adding its line to the link's record. Called at most once for an identifier. It does
    /// not wait for the inbox.
    fn hand_over<'a>(&'a mut self, hand_over: HandOver<'a>) -> Boxed<'a, Result<(), HandOverError>>;

    /// Does what an operator asks, and answers in words. `request` is YAML.
    ///
    /// # Errors
    /// In words; by default every request is refused.
    fn control(&mut self, request: &str) -> Result<String, ControlError> {
        let _ = request;
        Err(ControlError(format!("a `{}` link takes no requests", self.kind())))
    }
}

/// One sample as a link decodes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawSample {
    /// Index into the platform's `parameters`.
    pub parameter: u32,
    /// Index of the component, where it has one.
    pub index: Option<i64>,
    /// A value of the parameter's type, in its unit, which may lie outside of its range. `None` where what was received
    /// is no value of the type: the sample is invalid.
    pub value: Option<Value>,
}

/// What a link receives.
#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    /// A report on a telecommand.
    Report {
        /// The name that it gives.
        name: Arc<str>,
        /// The stage.
        stage: Stage,
        /// Of a failure report its code, with its label: `3 (invalid length)`.
        failure: Option<String>,
    },
    /// The samples of one packet, in its order.
    Samples {
        /// The samples.
        samples: Vec<RawSample>,
        /// Whether the target or the link plays back old ones.
        replayed: bool,
    },
    /// The link came up or went down.
    Link {
        /// Whether it is up.
        up: bool,
        /// Why, in words.
        reason: Option<String>,
    },
    /// Something that it cannot use.
    Anomaly {
        /// The kind, one of few: `bad-checksum`.
        kind: &'static str,
        /// In words.
        detail: String,
    },
}

/// Where a link delivers what it receives. Bounded: a flood makes the link wait.
#[derive(Debug, Clone)]
pub struct Inbox(mpsc::Sender<Delivery>);

/// One delivery, with its reception time.
#[derive(Debug)]
pub enum Delivery {
    /// Received by the link.
    Received(Received, Instant),
    /// Everything before it has been delivered: said to whoever asked.
    Flush(tokio::sync::oneshot::Sender<()>),
}

/// The gateway is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the gateway has ended")]
pub struct Closed;

impl Inbox {
    /// An inbox for at most `bound` deliveries, with the place where they come out.
    #[must_use]
    pub fn channel(bound: usize) -> (Self, mpsc::Receiver<Delivery>) {
        let (sender, receiver) = mpsc::channel(bound);
        (Self(sender), receiver)
    }

    /// Delivers. `at` is the clock when the ground received it, read as soon as it came.
    ///
    /// # Errors
    /// Where the gateway has ended: the link ends too.
    pub async fn deliver(&self, received: Received, at: Instant) -> Result<(), Closed> {
        self.0.send(Delivery::Received(received, at)).await.map_err(|_| Closed)
    }

    /// Asks for `done` to be told when everything delivered before has been published.
    ///
    /// # Errors
    /// Where the gateway has ended.
    pub async fn flush(&self, done: tokio::sync::oneshot::Sender<()>) -> Result<(), Closed> {
        self.0.send(Delivery::Flush(done)).await.map_err(|_| Closed)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id, self.name)
    }
}
