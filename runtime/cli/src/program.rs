//! Artifacts: read, decoded and proved.

use std::{fs, path::Path, sync::Arc};

use stellar_vm::{
    artifact,
    verify::{self, Verified},
};

use crate::exit::Failure;

/// A program that was proved, with its bytes.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// The program.
    pub(crate) verified: Arc<Verified>,
}

/// Reads an artifact and proves it.
pub(crate) fn load(path: &Path) -> Result<Loaded, Failure> {
    let bytes = fs::read(path).map_err(|e| Failure::wrong_call(format!("`{}` cannot be read: {e}", path.display())))?;
    prove(bytes, &path.display().to_string())
}

/// Proves the bytes of an artifact.
pub(crate) fn prove(bytes: Vec<u8>, name: &str) -> Result<Loaded, Failure> {
    let refused = |code: &str, why: String| {
        Failure::failed(format!("{name}: {code}: {why}")).help(format!("`stellar explain {code}` says more"))
    };
    let program = artifact::decode(&bytes).map_err(|e| refused(e.code(), e.to_string()))?;
    let verified = verify::verify(program).map_err(|e| refused(e.code(), e.to_string()))?;
    Ok(Loaded { bytes, verified: Arc::new(verified) })
}
