//! The machine, statement by statement and rule by rule, in a scripted world; every log is replayed.

#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;

#[cfg(test)]
mod control;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod indices;
mod interruptions;
#[cfg(test)]
mod procedures;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod replaying;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod together;
#[cfg(test)]
mod truth;
