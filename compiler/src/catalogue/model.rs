//! The catalogue as the compiler reads it: the runtime's tables, with types that hold their units and with places.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use stellar_vm::catalogue as vm;

use crate::{
    source::{Origin, Place},
    types::{Enumeration, Type, interval::Ints},
};

/// All platforms of a mission, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The platforms.
    pub platforms: Vec<Platform>,
    /// Whether something of it could not be read, so that a platform which is not here may yet exist. It has been
    /// reported; a platform that is not known is then no finding of its own.
    pub incomplete: bool,
}

/// One platform: the runtime's tables and, line for line, what the compiler knows besides.
#[derive(Clone, Debug)]
pub struct Platform {
    /// The tables, each sorted by name.
    pub compiled: vm::Platform,
    /// Where its name stands.
    pub place: Place,
    /// Whose it is.
    pub origin: Origin,
    /// The named types; `None` for one that was reported.
    pub types: BTreeMap<Arc<str>, Option<Type>>,
    /// The enumerations, line for line.
    pub enums: Vec<Enumeration>,
    /// Type and place of each parameter, line for line.
    pub parameters: Vec<Entry>,
    /// Place of each telecommand and types of its arguments, line for line.
    pub telecommands: Vec<TelecommandEntry>,
    /// Places of each alarm, line for line.
    pub alarms: Vec<AlarmEntry>,
    /// Dotted names of entries that could not be read; they have been reported, and no use of them is.
    pub unread: BTreeSet<String>,
}

/// What the compiler knows of a parameter.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its type; `None` for one that was reported.
    pub ty: Option<Type>,
    /// Where its name stands.
    pub place: Place,
}

/// What the compiler knows of a telecommand.
#[derive(Clone, Debug)]
pub struct TelecommandEntry {
    /// Types of its arguments, in their order; `None` for one that was reported.
    pub args: Vec<Option<Type>>,
    /// Where its name stands.
    pub place: Place,
}

/// What the compiler knows of an alarm.
#[derive(Clone, Debug)]
pub struct AlarmEntry {
    /// Where its name stands.
    pub place: Place,
    /// Where the name of the procedure stands that reacts to it.
    pub procedure: Option<Place>,
    /// Where the names of the inputs stand that it gives.
    pub with: Vec<Place>,
}

/// Index of the entry with that key in a sorted table.
fn find<T, K: Ord>(table: &[T], key: &K, key_of: impl Fn(&T) -> K) -> Option<u32> {
    let at = table.binary_search_by(|entry| key_of(entry).cmp(key)).ok()?;
    u32::try_from(at).ok()
}

/// The entry of a table at a number.
pub(crate) fn at<T>(table: &[T], number: u32) -> Option<&T> {
    table.get(usize::try_from(number).ok()?)
}

impl Catalogue {
    /// The number of the platform of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        let at = self.platforms.binary_search_by(|platform| platform.name().cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// The platform of that number.
    #[must_use]
    pub fn get(&self, platform: u32) -> Option<&Platform> {
        at(&self.platforms, platform)
    }

    /// The tables as the runtime takes them.
    #[must_use]
    pub fn compiled(&self) -> vm::Catalogue {
        vm::Catalogue { platforms: self.platforms.iter().map(|platform| platform.compiled.clone()).collect() }
    }
}

impl Platform {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.compiled.name
    }

    /// The number of the component of that name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<u32> {
        let at = self.compiled.components.binary_search_by(|component| (*component.name).cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// The component of that number.
    #[must_use]
    pub fn component_at(&self, component: u32) -> Option<&vm::Component> {
        at(&self.compiled.components, component)
    }

    /// The range of the index of a component that is an array.
    #[must_use]
    pub fn index_of(&self, component: u32) -> Option<Ints> {
        self.component_at(component)?.index.map(|(min, max)| Ints { min, max })
    }

    /// The number of the parameter of that name in a component.
    #[must_use]
    pub fn parameter(&self, component: u32, name: &str) -> Option<u32> {
        find(&self.compiled.parameters, &(component, name.into()), |it| (it.component, it.name.clone()))
    }

    /// The parameter of that number.
    #[must_use]
    pub fn parameter_at(&self, parameter: u32) -> Option<&vm::Parameter> {
        at(&self.compiled.parameters, parameter)
    }

    /// The type of a parameter; `None` for one that was reported.
    #[must_use]
    pub fn parameter_type(&self, parameter: u32) -> Option<&Type> {
        at(&self.parameters, parameter)?.ty.as_ref()
    }

    /// The number of the telecommand of that name in a component.
    #[must_use]
    pub fn telecommand(&self, component: u32, name: &str) -> Option<u32> {
        find(&self.compiled.telecommands, &(component, name.into()), |it| (it.component, it.name.clone()))
    }

    /// The telecommand of that number.
    #[must_use]
    pub fn telecommand_at(&self, telecommand: u32) -> Option<&vm::Telecommand> {
        at(&self.compiled.telecommands, telecommand)
    }

    /// The number of the route of that name.
    #[must_use]
    pub fn route(&self, name: &str) -> Option<u32> {
        let at = self.compiled.routes.binary_search_by(|route| (*route.name).cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// The number of the route that a `send` takes without `via`.
    #[must_use]
    pub fn default_route(&self) -> Option<u32> {
        let at = self.compiled.routes.iter().position(|route| route.default)?;
        u32::try_from(at).ok()
    }

    /// Names of the parameters of a component.
    pub fn parameters_of(&self, component: u32) -> impl Iterator<Item = &str> {
        self.compiled.parameters.iter().filter(move |it| it.component == component).map(|it| &*it.name)
    }

    /// Names of the telecommands of a component.
    pub fn telecommands_of(&self, component: u32) -> impl Iterator<Item = &str> {
        self.compiled.telecommands.iter().filter(move |it| it.component == component).map(|it| &*it.name)
    }

    /// Whether an entry of that dotted name exists but could not be read.
    #[must_use]
    pub fn is_unread(&self, dotted: &str) -> bool {
        self.unread.contains(dotted)
    }
}
