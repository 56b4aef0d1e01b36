//! Records of runs in the embedded store.

use std::{future::ready, sync::Arc};

use super::{
    versioned::{self, Expected, Versioned},
    writer::Writer,
};
use crate::ports::{Records, Reply, Revision, RunRecord};

const NAME: &str = "runs";
const TABLE: Versioned = Versioned::new(NAME);

impl Records for Writer {
    fn create<'a>(&'a self, run: &'a str, record: RunRecord) -> Reply<'a, Revision> {
        let run = run.to_owned();
        self.write(move |txn| versioned::put(txn, TABLE, NAME, &run, &record, Expected::Absent))
    }

    fn update<'a>(&'a self, run: &'a str, record: RunRecord, revision: Revision) -> Reply<'a, Revision> {
        let run = run.to_owned();
        self.write(move |txn| versioned::put(txn, TABLE, NAME, &run, &record, Expected::Revision(revision)))
    }

    fn get<'a>(&'a self, run: &'a str) -> Reply<'a, Option<(RunRecord, Revision)>> {
        Box::pin(ready(self.read(|txn| versioned::get(txn, TABLE, NAME, run))))
    }

    fn list(&self) -> Reply<'_, Vec<(Arc<str>, RunRecord, Revision)>> {
        Box::pin(ready(self.read(|txn| versioned::list(txn, TABLE, NAME))))
    }
}
