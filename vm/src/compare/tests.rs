use alloc::vec::Vec;

use super::*;
use crate::{
    catalogue::{Component, Freshness},
    sample::{self, S, text},
    value::{EnumDef, Type, Value},
};

fn compared(program: &Program, catalogue: &Catalogue) -> Result<(), String> {
    check(program, [("sim-1", "platform-v3")], catalogue).map_err(|mismatch| mismatch.to_string())
}

/// Compares against a catalogue that was edited.
fn edited(edit: impl FnOnce(&mut Platform)) -> Result<(), String> {
    let mut catalogue = sample::catalogue();
    edit(&mut catalogue.platforms[0]);
    compared(&sample::whole(), &catalogue)
}

#[test]
fn the_catalogue_of_the_compilation_matches() {
    assert_eq!(edited(|_| ()), Ok(()));
}

#[test]
fn what_the_program_does_not_use_may_differ() {
    assert_eq!(edited(|p| p.parameters[2].ty = Type::Bool), Ok(()));
    assert_eq!(edited(|p| p.routes[1].default = true), Ok(()));
    assert_eq!(edited(|p| p.telecommands[0].description = None), Ok(()));
    assert_eq!(edited(|p| p.enums[0].labels.clear()), Ok(()));
    assert_eq!(edited(|p| p.components.push(Component { name: text("z"), index: None })), Ok(()));
}

#[test]
fn entries_that_move_do_not_differ() {
    let moved = edited(|p| {
        p.enums.swap(0, 1);
        p.parameters[0].ty = Type::Enum(0);
        for expr in p.telecommands.iter_mut().flat_map(|one| one.requires.iter_mut().chain(&mut one.verify.until)) {
            for constant in &mut expr.constants {
                if let Value::Enum { def, .. } = constant {
                    *def = 0;
                }
            }
            expr.reads[0].parameter = 1;
        }
        p.parameters.swap(0, 1);
        p.telecommands.reverse();
        p.components.swap(0, 1);
        p.parameters.iter_mut().for_each(|one| one.component = 0);
        p.telecommands.iter_mut().for_each(|one| one.component = 0);
    });
    assert_eq!(moved, Ok(()));
}

#[test]
fn every_entry_that_differs_is_named() {
    type Edit = fn(&mut Platform);
    let edits: [(&str, Edit); 18] = [
        ("parameter `tcu.responding` differs", |p| p.parameters[1].ty = Type::Int { min: 0, max: 1 }),
        ("parameter `tcu.responding` differs", |p| p.parameters[1].freshness = Freshness::OnChange),
        ("parameter `tcu.responding` differs", |p| p.parameters[1].period = None),
        ("parameter `tcu.responding` differs", |p| p.parameters[1].ccsds = None),
        ("parameter `tcu.responding` differs", |p| {
            p.parameters[1].valid_when = Some(crate::condition::Expr::default())
        }),
        ("parameter `tcu.mode` differs", |p| p.enums[1].labels[2].1 = 3),
        ("parameter `tcu.responding` differs", |p| p.components[1].index = Some((1, 5))),
        ("parameter `tcu.responding` differs", |p| p.ccsds.as_mut().unwrap().packets[0].apid = 3),
        ("parameter `tcu.responding` is missing", |p| p.parameters[1].name = text("answering")),
        ("telecommand `tcu.ping` differs", |p| p.telecommands[0].changes_state = true),
        ("telecommand `tcu.ping` differs", |p| p.telecommands[0].verify.window = 6 * S),
        ("telecommand `tcu.ping` differs", |p| p.telecommands[0].ccsds.as_mut().unwrap().subtype = 9),
        ("telecommand `tcu.ping` differs", |p| p.ccsds.as_mut().unwrap().source_id = 1),
        ("telecommand `tcu.standby` differs", |p| p.telecommands[2].verify.until = None),
        ("telecommand `tcu.set_heater` differs", |p| p.telecommands[1].args[1].default = None),
        ("telecommand `tcu.set_heater` differs", |p| p.telecommands[1].requires = None),
        ("route `direct` differs", |p| p.routes[0].default = false),
        ("component `eps` differs", |p| p.components[0].index = Some((1, 2))),
    ];
    for (words, edit) in edits {
        let message = edited(edit).expect_err(words);
        assert!(message.starts_with(words) && message.contains("`sim-1`"), "`{message}`, not `{words}`");
    }
}

#[test]
fn a_default_window_is_not_part_of_an_entry() {
    let edit = |p: &mut Platform| {
        p.telecommands[1].verify.window = 20 * S;
        p.telecommands[1].verify.stages[0].1 = 20 * S;
    };
    assert_eq!(edited(edit), Ok(()));
    assert!(edited(|p| p.telecommands[1].verify.default_window = false).is_err());
}

#[test]
fn a_slice_that_lies_about_its_hash_is_refused() {
    let mut program = sample::whole();
    program.telecommands[1].changes_state = false;
    let message = compared(&program, &sample::catalogue()).expect_err("it is refused");
    assert!(message.starts_with("telecommand `tcu.standby` differs"), "{message}");
    let mut program = sample::whole();
    program.parameters[0].freshness = Freshness::OnChange;
    assert!(compared(&program, &sample::catalogue()).is_err());
}

#[test]
fn only_the_platforms_of_the_targets_count() {
    let program = sample::whole();
    let nothing = Catalogue::default();
    assert_eq!(check(&program, [("sim-1", "another")], &nothing), Ok(()));
    let mismatch = check(&program, [("sim-1", "platform-v3")], &nothing).expect_err("it is missing");
    assert_eq!((mismatch.code(), mismatch.exists), (MISMATCH, false));
}

#[test]
fn hashes_stay_what_they_are() {
    let catalogue = sample::catalogue();
    let platform = &catalogue.platforms[0];
    let told = |name: &str, hash: Option<[u8; 32]>| {
        let hex: String = hash.unwrap().iter().map(|byte| alloc::format!("{byte:02x}")).collect();
        alloc::format!("{name} {hex}")
    };
    let lines: Vec<String> = [
        told("tcu.mode", parameter_hash(platform, 0)),
        told("tcu.ping", telecommand_hash(platform, 0)),
        told("tcu.set_heater", telecommand_hash(platform, 1)),
        told("tcu.standby", telecommand_hash(platform, 2)),
        told("direct", route_hash(platform, 0)),
    ]
    .into();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(parameter_hash(platform, 3), None);
    let mut broken = platform.clone();
    broken.enums = Vec::<EnumDef>::new();
    assert_eq!(parameter_hash(&broken, 0), None);
}
