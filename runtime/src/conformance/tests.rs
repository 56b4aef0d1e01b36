use super::*;
use crate::{
    embedded::{Embedded, no_hold},
    ports::{Claim, Look, Reply, TelecommandResult, Telecommands},
};

struct Folder {
    folder: tempfile::TempDir,
    store: Option<Embedded>,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), "exec-a", no_hold()).unwrap();
        Self { folder, store: Some(store) }
    }
}

impl Subject for Folder {
    fn store(&self) -> Store {
        self.store.as_ref().unwrap().store()
    }

    fn reopen(&mut self) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>> {
        drop(self.store.take());
        let path = self.folder.path().join("store");
        self.store = Some(Embedded::open(&path, "exec-a", no_hold()).unwrap());
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn the_embedded_store_passes() {
    check(&mut Folder::new()).await.unwrap();
}

/// A store that forgets that a telecommand was claimed: the suite must say so.
struct Forgetful(Folder);

struct ForgetfulTelecommands(std::sync::Arc<dyn Telecommands>);

impl Telecommands for ForgetfulTelecommands {
    fn claim(&self, claim: Claim) -> Reply<'_, ()> {
        Box::pin(async move {
            match self.0.claim(claim).await {
                Err(StoreError::Conflict(_)) => Ok(()),
                other => other,
            }
        })
    }

    fn result<'a>(&'a self, id: &'a str, result: TelecommandResult) -> Reply<'a, ()> {
        self.0.result(id, result)
    }

    fn cut<'a>(&'a self, id: &'a str, reason: &'a str, at: stellar_vm::time::Instant) -> Reply<'a, Look> {
        self.0.cut(id, reason, at)
    }

    fn look<'a>(&'a self, id: &'a str) -> Reply<'a, Look> {
        self.0.look(id)
    }

    fn open<'a>(&'a self, target: &'a str) -> Reply<'a, Vec<Claim>> {
        self.0.open(target)
    }
}

impl Subject for Forgetful {
    fn store(&self) -> Store {
        let store = self.0.store();
        Store { telecommands: std::sync::Arc::new(ForgetfulTelecommands(store.telecommands)), ..store }
    }

    fn reopen(&mut self) -> Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + '_>> {
        self.0.reopen()
    }
}

#[tokio::test]
async fn a_store_that_claims_twice_does_not_pass() {
    let violation = check(&mut Forgetful(Folder::new())).await.unwrap_err();
    assert_eq!(violation.contract, "a claim is made once");
}
