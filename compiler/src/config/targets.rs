//! `targets:` what there is to command, and by which link.

use std::{collections::BTreeMap, net::SocketAddr};

use super::paths;
use crate::{
    source::Place,
    yaml::{Node, Reader},
};

/// A target.
#[derive(Clone, Debug)]
pub struct Target {
    /// The platform that it is.
    pub platform: String,
    /// Where that stands.
    pub platform_place: Place,
    /// How it is reached; a target without a link cannot be used by a run.
    pub link: Option<LinkSettings>,
}

/// How a target is reached.
#[derive(Clone, Debug)]
pub enum LinkSettings {
    /// Simulated.
    Sim(SimSettings),
    /// Space packets over UDP.
    Ccsds(CcsdsSettings),
}

/// `sim:`.
#[derive(Clone, Debug)]
pub struct SimSettings {
    /// File with the behaviours, as written.
    pub behaviours: Option<paths::Named>,
    /// Seed of what is random in them; 1 where none is given.
    pub seed: u64,
}

/// `ccsds:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CcsdsSettings {
    /// Address that takes telecommands, and that telemetry comes from.
    pub target: SocketAddr,
    /// Address that telemetry is sent to; any free port where it is not given.
    pub local: Option<SocketAddr>,
    /// Telemetry whose on-board time is older than this, in nanoseconds, is played back: archived, never judged.
    pub replayed_after: Option<i64>,
}

/// Reads the mapping of names to targets.
pub(super) fn read(node: &Node, reader: &mut Reader<'_>) -> BTreeMap<String, Target> {
    let mut targets = BTreeMap::new();
    for (key, node) in reader.entries(node).unwrap_or_default() {
        if !is_target_name(&key.text) {
            let message = "a target's name has letters, digits, `-` and `_`, and 1 to 64 of them";
            reader.say(reader.vocabulary.bad_value, key.place, message);
            continue;
        }
        let Some(fields) = reader.fields(node, key.place, &["platform", "link"]) else { continue };
        let platform = reader.required(&fields, "platform").and_then(|node| Some((reader.text(node)?, node.place)));
        let link = fields.get("link").and_then(|node| link(node, reader));
        if let Some((platform, platform_place)) = platform {
            targets.entry(key.text.clone()).or_insert(Target { platform: platform.to_owned(), platform_place, link });
        }
    }
    targets
}

/// One token of a subject, so that the same name serves every store.
fn is_target_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn link(node: &Node, reader: &mut Reader<'_>) -> Option<LinkSettings> {
    let fields = reader.fields(node, node.place, &["sim", "ccsds"])?;
    match (fields.get("sim"), fields.get("ccsds")) {
        (Some(sim), None) => sim_link(sim, reader).map(LinkSettings::Sim),
        (None, Some(ccsds)) => ccsds_link(ccsds, reader).map(LinkSettings::Ccsds),
        (None, None) => {
            reader.say(reader.vocabulary.missing_key, node.place, "a link is `sim` or `ccsds`, and neither is given");
            None
        }
        (Some(_), Some(_)) => {
            reader.bad(node, "a target has one link, and here are two");
            None
        }
    }
}

fn sim_link(node: &Node, reader: &mut Reader<'_>) -> Option<SimSettings> {
    let fields = reader.fields(node, node.place, &["behaviours", "seed"])?;
    let behaviours = fields
        .get("behaviours")
        .and_then(|node| Some(paths::Named { path: paths::one(node, reader)?, place: node.place }));
    let seed = fields.get("seed").and_then(|node| reader.int_in(node, 0, i64::MAX)).unwrap_or(1);
    Some(SimSettings { behaviours, seed: seed.unsigned_abs() })
}

fn ccsds_link(node: &Node, reader: &mut Reader<'_>) -> Option<CcsdsSettings> {
    let fields = reader.fields(node, node.place, &["udp", "replayed_after"])?;
    let replayed_after = fields.get("replayed_after").and_then(|node| reader.duration(node));
    let node = reader.required(&fields, "udp")?;
    let fields = reader.fields(node, node.place, &["target", "local"])?;
    let target = reader.required(&fields, "target").and_then(|node| address(node, reader));
    let local = fields.get("local").map(|node| address(node, reader));
    Some(CcsdsSettings { target: target?, local: local.flatten(), replayed_after })
}

fn address(node: &Node, reader: &mut Reader<'_>) -> Option<SocketAddr> {
    let text = reader.text(node)?;
    let address = text.parse().ok();
    if address.is_none() {
        reader.bad(node, format!("`{text}` is no address: write it as `127.0.0.1:7301`"));
    }
    address
}
