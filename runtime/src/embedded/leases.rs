//! Leases of targets in the embedded store.

use std::{future::ready, sync::Arc};

use super::{
    versioned::{self, Expected, Versioned},
    writer::Writer,
};
use crate::ports::{LeaseRecord, Leases, Reply, Revision};

const NAME: &str = "leases";
const TABLE: Versioned = Versioned::new(NAME);

impl Leases for Writer {
    fn put<'a>(&'a self, target: &'a str, lease: LeaseRecord, expected: Option<Revision>) -> Reply<'a, Revision> {
        let target = target.to_owned();
        let expected = expected.map_or(Expected::Absent, Expected::Revision);
        self.write(move |txn| versioned::put(txn, TABLE, NAME, &target, &lease, expected))
    }

    fn get<'a>(&'a self, target: &'a str) -> Reply<'a, Option<(LeaseRecord, Revision)>> {
        Box::pin(ready(self.read(|txn| versioned::get(txn, TABLE, NAME, target))))
    }

    fn list(&self) -> Reply<'_, Vec<(Arc<str>, LeaseRecord, Revision)>> {
        Box::pin(ready(self.read(|txn| versioned::list(txn, TABLE, NAME))))
    }
}
