//! The suite that every store passes: the contracts of [`crate::ports`], checked one by one.
//!
//! A [`Subject`] gives a fresh store and can close and open it again; [`check`] runs all and names the first contract
//! that is broken. It asserts nothing by panicking, so that programs can run it as well as tests.

mod archive;
mod artifacts;
mod control;
mod leases;
mod log;
mod records;
mod telecommands;

use std::{fmt::Debug, future::Future, pin::Pin};

use crate::ports::{Store, StoreError};

/// A store under the suite.
pub trait Subject: Send {
    /// The open store.
    fn store(&self) -> Store;

    /// Closes the store and opens it again over the same data.
    fn reopen(&mut self) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>>;
}

/// A contract that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{contract}: {what}")]
pub struct Violation {
    /// The contract.
    pub contract: String,
    /// What was found instead.
    pub what: String,
}

type Checked = Result<(), Violation>;

/// Runs the whole suite on a fresh store.
///
/// # Errors
/// The first [`Violation`].
pub async fn check(subject: &mut dyn Subject) -> Checked {
    log::check(subject).await?;
    control::check(subject).await?;
    records::check(subject).await?;
    leases::check(subject).await?;
    artifacts::check(subject).await?;
    telecommands::check(subject).await?;
    archive::check(subject).await
}

async fn reopen(subject: &mut dyn Subject) -> Checked {
    subject.reopen().await.map_err(|error| violation("a store opens again", &error))
}

fn violation(contract: &str, what: &impl Debug) -> Violation {
    Violation { contract: contract.to_owned(), what: format!("{what:?}") }
}

/// The value, or the violation that there is an error.
fn good<T>(contract: &str, result: Result<T, StoreError>) -> Result<T, Violation> {
    result.map_err(|error| violation(contract, &error))
}

/// Both are the same.
fn same<T: PartialEq + Debug>(contract: &str, found: &T, wanted: &T) -> Checked {
    if found == wanted {
        return Ok(());
    }
    Err(Violation { contract: contract.to_owned(), what: format!("{found:?} instead of {wanted:?}") })
}

/// It was refused as a conflict.
fn conflict<T: Debug>(contract: &str, result: Result<T, StoreError>) -> Checked {
    match result {
        Err(StoreError::Conflict(_)) => Ok(()),
        other => Err(violation(contract, &other)),
    }
}

#[cfg(test)]
mod tests;
