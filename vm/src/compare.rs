//! Whether a program and a target's catalogue speak of the same things.
//!
//! Each entry of a program's slice carries a hash of the whole catalogue entry, encoding included, and what of the entry
//! the machine goes by. Both are compared with the catalogue when a run starts: an entry that differs refuses the run,
//! naming it; entries that the program does not use may differ. In a hash everything stands by value, so that entries
//! elsewhere in the catalogue, and their order, do not change it.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    sync::Arc,
};
use core::fmt;

use crate::{
    artifact::hash_of_value,
    catalogue::{Catalogue, Platform},
    program::{Program, Unit},
    verify::entry,
};

mod whole;

/// What the comparison can find, with what it means.
pub const CODES: &[(&str, &str)] =
    &[(MISMATCH, "the artifact was compiled against another catalogue than the target's")];

const MISMATCH: &str = "artifact::catalogue-mismatch";

/// Hash of a whole parameter, by its index in [`Platform::parameters`]; `None` where it or what it refers to is missing.
#[must_use]
pub fn parameter_hash(platform: &Platform, index: u32) -> Option<[u8; 32]> {
    hash_of_value(&whole::parameter(platform, index)?)
}

/// Hash of a whole telecommand, by its index in [`Platform::telecommands`]; likewise.
///
/// A window that is the configuration's default is no part of it, nor is the description.
#[must_use]
pub fn telecommand_hash(platform: &Platform, index: u32) -> Option<[u8; 32]> {
    hash_of_value(&whole::telecommand(platform, index)?)
}

/// Hash of a route, by its index in [`Platform::routes`].
#[must_use]
pub fn route_hash(platform: &Platform, index: u32) -> Option<[u8; 32]> {
    hash_of_value(entry(&platform.routes, index)?)
}

/// An entry of the program that the catalogue of a target does not have like that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The target.
    pub target: String,
    /// Its platform.
    pub platform: String,
    /// The entry, told in words: `` telecommand `tcu.ping` ``.
    pub entry: String,
    /// Whether the catalogue has an entry of that name at all.
    pub exists: bool,
}

impl Mismatch {
    /// Code of the diagnostic.
    #[must_use]
    pub fn code(&self) -> &'static str {
        MISMATCH
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, platform, entry, exists } = self;
        let how = if *exists { "differs from the one in" } else { "is missing in" };
        write!(f, "{entry} {how} the catalogue of `{target}` (platform `{platform}`): compile the program again")
    }
}

impl core::error::Error for Mismatch {}

/// Compares all that a program uses of the platforms of the given targets, each named with its platform.
///
/// # Errors
/// The first entry that differs.
pub fn check<'a>(
    program: &Program,
    targets: impl IntoIterator<Item = (&'a str, &'a str)>,
    catalogue: &Catalogue,
) -> Result<(), Mismatch> {
    for (target, name) in targets {
        let Some(index) = program.platforms.iter().position(|platform| &**platform == name) else { continue };
        let mismatch = |(entry, exists): (String, bool)| Mismatch {
            target: target.to_string(),
            platform: name.to_string(),
            entry,
            exists,
        };
        let Some(platform) = catalogue.platforms.iter().find(|platform| &*platform.name == name) else {
            return Err(mismatch((alloc::format!("platform `{name}`"), false)));
        };
        let Ok(index) = u32::try_from(index) else { continue };
        Against { program, index, platform }.check().map_err(mismatch)?;
    }
    Ok(())
}

/// The entry that differs, and whether there is one of its name.
type Different = (String, bool);

struct Against<'a> {
    program: &'a Program,
    /// Of the platform in the program.
    index: u32,
    platform: &'a Platform,
}

impl Against<'_> {
    fn check(&self) -> Result<(), Different> {
        self.parameters()?;
        self.telecommands()?;
        self.routes()?;
        self.program.units.iter().try_for_each(|unit| self.transfers(unit))
    }

    fn component(&self, index: u32) -> &str {
        entry(&self.platform.components, index).map_or("", |component| &*component.name)
    }

    fn parameters(&self) -> Result<(), Different> {
        let table = self.platform.parameters.iter().zip(0_u32..);
        let places: BTreeMap<(&str, &str), u32> =
            table.map(|(one, at)| ((self.component(one.component), &*one.name), at)).collect();
        for (used, at) in self.program.parameters.iter().zip(0..) {
            if used.platform != self.index {
                continue;
            }
            let told = || alloc::format!("parameter `{}.{}`", used.component, used.name);
            let Some(there) = places.get(&(&*used.component, &*used.name)) else { return Err((told(), false)) };
            let face = whole::parameter_face(self.platform, *there).and_then(|face| hash_of_value(&face));
            let own = whole::used_parameter(self.program, at).and_then(|face| hash_of_value(&face));
            if parameter_hash(self.platform, *there) != Some(used.hash) || face != own {
                return Err((told(), true));
            }
        }
        Ok(())
    }

    fn telecommands(&self) -> Result<(), Different> {
        let table = self.platform.telecommands.iter().zip(0_u32..);
        let places: BTreeMap<(&str, &str), u32> =
            table.map(|(one, at)| ((self.component(one.component), &*one.name), at)).collect();
        for (used, at) in self.program.telecommands.iter().zip(0..) {
            if used.platform != self.index {
                continue;
            }
            let told = || alloc::format!("telecommand `{}.{}`", used.component, used.name);
            let Some(there) = places.get(&(&*used.component, &*used.name)) else { return Err((told(), false)) };
            let face = whole::telecommand_face(self.platform, *there).and_then(|face| hash_of_value(&face));
            let own = whole::used_telecommand(self.program, at).and_then(|face| hash_of_value(&face));
            if telecommand_hash(self.platform, *there) != Some(used.hash) || face != own {
                return Err((told(), true));
            }
        }
        Ok(())
    }

    fn routes(&self) -> Result<(), Different> {
        for used in self.program.routes.iter().filter(|used| used.platform == self.index) {
            let told = || alloc::format!("route `{}`", used.name);
            let found = self.platform.routes.iter().zip(0_u32..).find(|(route, _)| route.name == used.name);
            let Some((_, there)) = found else { return Err((told(), false)) };
            if route_hash(self.platform, there) != Some(used.hash) {
                return Err((told(), true));
            }
        }
        Ok(())
    }

    /// A transfer names its component itself.
    fn transfers(&self, unit: &Unit) -> Result<(), Different> {
        for transfer in &unit.transfers {
            if entry(&unit.targets, transfer.target).map(|target| target.platform) != Some(self.index) {
                continue;
            }
            let told = |name: &Arc<str>| alloc::format!("component `{name}`");
            let found = self.platform.components.iter().find(|component| component.name == transfer.component);
            match found {
                None => return Err((told(&transfer.component), false)),
                Some(found) if found.index != transfer.component_index => {
                    return Err((told(&transfer.component), true));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
