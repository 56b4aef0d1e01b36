//! What is refused at the start: then there is no run.

use std::{collections::BTreeMap, sync::Arc};

use stellar_vm::value::Scalar;

use super::{
    programs::acquire,
    world::{START, process, request, willing},
};
use crate::executor::StartRequest;

#[test]
fn a_wrong_start_is_told_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = |name: &str| BTreeMap::from([(Arc::from("sat"), Arc::from(name))]);
    let good = request(acquire());
    let mut edited = acquire();
    let last = edited.len() - 1;
    edited[last] ^= 1;
    let cases: Vec<(StartRequest, &str, &str)> = vec![
        (StartRequest { artifact: edited, ..good.clone() }, "artifact::bad-hash", ""),
        (
            StartRequest { procedure: String::from("Acquired"), ..good.clone() },
            "run::input",
            "there is no procedure `Acquired`",
        ),
        (
            StartRequest { targets: target("sim-9"), ..good.clone() },
            "run::target",
            "there is no target `sim-9` in the configuration",
        ),
        (
            StartRequest { targets: target("lander-1"), ..good.clone() },
            "run::target",
            "`sat` is to be a `platform-v3`, and target `lander-1` is a `lander`",
        ),
        (
            StartRequest {
                targets: BTreeMap::from([
                    (Arc::from("sat"), Arc::from("sim-1")),
                    (Arc::from("other"), Arc::from("sim-1")),
                ]),
                ..good.clone()
            },
            "run::input",
            "`Acquire` uses no target named `other`",
        ),
        (
            StartRequest { inputs: BTreeMap::from([(Arc::from("tcu"), Scalar::Int(2))]), ..good.clone() },
            "run::input",
            "`Acquire` has no input `tcu`",
        ),
    ];
    process(folder.path(), START, willing(), async |world| {
        for (request, code, text) in cases {
            let error = world.executor.start(request).await.err().unwrap();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.is_wrong_call());
            assert!(error.to_string().contains(text), "{error}");
        }
        assert!(world.executor.runs().await.unwrap().is_empty());
    });
}
