//! What operators send to a run: one numbered sequence of messages a run, read by its owner in order.

use serde::{Deserialize, Serialize};
use stellar_vm::event::DecisionOption;

use super::Reply;

/// A message of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlMessage {
    /// Names the message: a hash of sender and Idempotency-Key. The same id is the same message.
    pub id: String,
    /// Who sent it.
    pub by: String,
    /// What is asked.
    #[serde(flatten)]
    pub action: ControlAction,
}

/// What an operator asks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum ControlAction {
    /// Answers a question.
    Answer {
        /// Identifier of the question.
        question: String,
        /// The choice.
        value: String,
    },
    /// Takes a decision.
    Decide {
        /// Identifier of the decision.
        decision: String,
        /// What.
        option: DecisionOption,
    },
    /// Suspends the run.
    Suspend,
    /// Lets it go on.
    Resume,
    /// Ends it.
    Abort,
}

/// The messages of operators.
pub trait Control: Send + Sync {
    /// Stores a message and answers its number, from 1, when it is durable. A message whose id the run already has is
    /// not stored again: the number of the first is answered, with `true` (a repetition).
    ///
    /// # Errors
    /// `Unavailable`; never a conflict.
    fn send<'a>(&'a self, run: &'a str, message: ControlMessage) -> Reply<'a, (u64, bool)>;

    /// Every message with a number greater than `after`, in order.
    ///
    /// # Errors
    /// `Damaged` where a message does not match its checksum.
    fn read<'a>(&'a self, run: &'a str, after: u64) -> Reply<'a, Vec<(u64, ControlMessage)>>;
}
