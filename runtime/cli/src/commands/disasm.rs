//! `stellar disasm FILE.stc`.

use stellar_vm::disasm;

use crate::{
    args::Disasm,
    exit::{Exit, Failure},
    output, program,
};

/// Prints an artifact readably, after it has been proved.
pub(super) fn disasm(args: &Disasm) -> Result<Exit, Failure> {
    let loaded = program::load(&args.artifact)?;
    output::print(&disasm::disassemble(&loaded.verified))?;
    Ok(Exit::Done)
}
