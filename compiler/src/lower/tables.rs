//! The numbers of what the code refers to: platforms, enumerations, parameters, telecommands, routes, files.

use std::collections::BTreeMap;

use crate::{
    catalogue::Catalogue,
    expr::Slots,
    source::{FileId, Sources},
    types::{Enumeration, Enumerations},
};

/// A platform's number in the catalogue and an entry's number in the platform.
pub(super) type Entry = (u32, u32);

/// One table: the keys that are used, sorted, each with its number once they are given out.
#[derive(Debug)]
pub(super) struct Table<K> {
    numbers: BTreeMap<K, u32>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new() }
    }
}

impl<K: Ord + Copy> Table<K> {
    /// The number of a key, which is used from now on; 0 until numbers are given out.
    pub(super) fn number(&mut self, key: K) -> u32 {
        *self.numbers.entry(key).or_insert(0)
    }

    /// The keys, in the order of their numbers.
    pub(super) fn keys(&self) -> Vec<K> {
        self.numbers.keys().copied().collect()
    }

    fn give_out(&mut self) {
        for (number, slot) in (0..).zip(self.numbers.values_mut()) {
            *slot = number;
        }
    }
}

/// All tables. Keys are numbers of the catalogue, which is sorted by name, so that the order is that of names.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    pub(super) sources: &'a Sources,
    pub(super) catalogue: &'a Catalogue,
    pub(super) platforms: Table<u32>,
    pub(super) enums: Table<Entry>,
    pub(super) parameters: Table<Entry>,
    pub(super) telecommands: Table<Entry>,
    pub(super) routes: Table<Entry>,
    pub(super) files: Table<FileId>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(sources: &'a Sources, catalogue: &'a Catalogue) -> Self {
        Self {
            sources,
            catalogue,
            platforms: Table::default(),
            enums: Table::default(),
            parameters: Table::default(),
            telecommands: Table::default(),
            routes: Table::default(),
            files: Table::default(),
        }
    }

    /// Gives out the numbers: all that is used is known.
    pub(super) fn number(&mut self) {
        self.platforms.give_out();
        self.enums.give_out();
        self.parameters.give_out();
        self.telecommands.give_out();
        self.routes.give_out();
        self.files.give_out();
    }
}

impl Enumerations for Tables<'_> {
    fn enumeration(&mut self, which: &Enumeration) -> u32 {
        // An enumeration always is one of a platform of the catalogue.
        let platform = self.catalogue.find(&which.platform).unwrap_or(u32::MAX);
        self.enums.number((platform, which.index))
    }
}

impl Slots for Tables<'_> {
    fn parameter(&mut self, platform: u32, parameter: u32) -> u32 {
        self.parameters.number((platform, parameter))
    }
}
