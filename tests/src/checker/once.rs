//! At most one hand-over to a link of each identifier, over all links and processes.

use std::collections::BTreeMap;

use super::{Found, Rule, log::HandedOver};

pub(super) fn check(left: &[HandedOver], found: &mut Found) {
    let mut first: BTreeMap<&str, &HandedOver> = BTreeMap::new();
    for one in left {
        if let Some(before) = first.get(one.id.as_str()) {
            let what = format!(
                "{} left to `{}` at {} and to `{}` at {}",
                one.id, before.target, before.at, one.target, one.at
            );
            found.add(Rule::Once, &one.run, None, what);
        } else {
            first.insert(&one.id, one);
        }
    }
}
