//! libFuzzer over the inputs from outside: `STELLAR_FUZZ` names the target of `stellar_tests::hostile::TARGETS`. What a
//! target asks is there, and tested there; here is only the way to the fuzzer. `run.sh` builds and runs it.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use stellar_tests::hostile::{Target, target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("STELLAR_FUZZ").expect("STELLAR_FUZZ names the target");
    target(&name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|data: &[u8]| (TARGET.holds)(data));
