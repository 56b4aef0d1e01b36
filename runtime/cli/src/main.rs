//! The `stellar` command.

fn main() {}
