use std::{
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use redb::{StorageBackend, backends::FileBackend};

use super::*;
use crate::ports::{Line, StoreError};

fn line(seq: u64) -> Line {
    Line { seq, epoch: 1, text: format!(r#"{{"seq":{seq}}}"#).into() }
}

#[test]
fn a_second_opener_is_told_who_has_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let first = Embedded::open(folder.path(), "exec-a", no_hold()).unwrap();
    let error = Embedded::open(folder.path(), "exec-b", no_hold()).err().unwrap();
    assert_eq!(error.code(), "store::in-use");
    let wanted = format!(
        "the store `{}` is in use by process {} (`exec-a`): one process at a time can open it",
        folder.path().display(),
        std::process::id()
    );
    assert_eq!(error.to_string(), wanted);
    drop(first);
    Embedded::open(folder.path(), "exec-b", no_hold()).unwrap();
}

#[tokio::test]
async fn many_appends_are_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let syncs = Arc::new(AtomicU64::new(0));
    let (counter, broken) = (syncs.clone(), Arc::new(AtomicBool::new(false)));
    let store = Embedded::open_with(folder.path(), "a", no_hold(), &|path| faulty(path, &counter, &broken)).unwrap();
    let log = store.store().log;
    let before = syncs.load(Ordering::SeqCst);
    let appends = (0..200).map(|run| {
        let log = log.clone();
        async move { log.append(&format!("run-{run}"), vec![line(1)]).await }
    });
    for result in futures_util::future::join_all(appends).await {
        result.unwrap();
    }
    let used = syncs.load(Ordering::SeqCst) - before;
    assert!(used < 100, "200 appends at once took {used} syncs");
}

#[tokio::test]
async fn a_failed_sync_stops_the_store_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let (syncs, broken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counter, switch) = (syncs.clone(), broken.clone());
    let store = Embedded::open_with(folder.path(), "a", no_hold(), &|path| faulty(path, &counter, &switch)).unwrap();
    let log = store.store().log;
    log.append("r", vec![line(1)]).await.unwrap();
    broken.store(true, Ordering::SeqCst);
    let error = log.append("r", vec![line(2)]).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(why) if why.starts_with("it cannot be written: ")), "{error}");
    assert!(store.stopped().borrow().is_some(), "who learns that a write failed finds the store stopped");
    broken.store(false, Ordering::SeqCst);
    let error = log.append("r", vec![line(2)]).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(_)), "it goes on after a failed sync: {error}");
    let mut stopped = store.stopped();
    let why = stopped.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert!(why.starts_with("it cannot be written: "), "{why}");
    drop((log, store));
    let store = Embedded::open(folder.path(), "a", no_hold()).unwrap();
    assert_eq!(store.store().log.read("r", 1, 9).await.unwrap().first(), Some(&line(1)));
}

#[test]
fn a_disk_that_fails_at_the_opening_is_not_called_damage() {
    let mut failed = 0;
    for nth in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let (syncs, broken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let opener = |path: &Path| {
            let database = faulty(path, &syncs, &broken);
            broken.store(syncs.load(Ordering::SeqCst) >= nth, Ordering::SeqCst);
            database
        };
        match Embedded::open_with(folder.path(), "a", no_hold(), &opener) {
            Ok(_) => {}
            Err(OpenError::Io { .. }) => failed += 1,
            Err(other) => panic!("after {nth} syncs: {other}"),
        }
    }
    assert!(failed > 0, "no sync failed");
}

#[test]
fn a_damaged_file_is_refused_and_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("store.redb"), b"this is not a database, but it has some length").unwrap();
    let error = Embedded::open(folder.path(), "a", no_hold()).err().unwrap();
    assert_eq!(error.code(), "store::damaged", "{error}");
    assert!(error.to_string().contains("store.redb"), "{error}");
}

/// Every 509th byte of a file is flipped in turn: the store refuses to open, or what it reads is what was written, or it
/// says that it is damaged. It never panics and never gives other bytes.
#[tokio::test]
async fn flipped_and_cut_files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole");
    let store = Embedded::open(&path, "a", no_hold()).unwrap();
    let lines: Vec<Line> = (1..=50).map(line).collect();
    store.store().log.append("r", lines.clone()).await.unwrap();
    drop(store);
    let whole = std::fs::read(path.join("store.redb")).unwrap();
    let used = whole.iter().rposition(|byte| *byte != 0).unwrap();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut refused = 0;
    for (case, at) in (0..used).step_by(509).enumerate() {
        let mut bytes = whole.clone();
        if case % 7 == 3 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 0x40;
        }
        let path = folder.path().join(format!("case-{case}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("store.redb"), &bytes).unwrap();
        match Embedded::open(&path, "a", no_hold()) {
            Err(OpenError::Damaged { .. } | OpenError::Newer { .. }) => refused += 1,
            Err(other) => panic!("at {at}: {other}"),
            Ok(store) => match store.store().log.read("r", 1, 99).await {
                Ok(read) => assert!(read == lines || bytes.len() < 16, "at {at}: other lines are read"),
                Err(StoreError::Damaged(_)) => refused += 1,
                Err(other) => panic!("at {at}: {other}"),
            },
        }
        std::fs::remove_dir_all(&path).unwrap();
    }
    std::panic::set_hook(hook);
    assert!(refused > 0, "no fault was found");
}

/// The test binary itself as a child that writes until it is killed; does nothing in an ordinary run of the tests.
#[tokio::test]
async fn child_that_writes() {
    let Some(path) = std::env::var_os("STELLAR_STORE_CHILD") else { return };
    let store = Embedded::open(Path::new(&path), "child", no_hold()).unwrap();
    let log = store.store().log;
    let last = log.last("r").await.unwrap().map_or(0, |line| line.seq);
    for seq in last + 1.. {
        log.append("r", vec![line(seq)]).await.unwrap();
        println!("acknowledged {seq}");
    }
}

#[tokio::test]
async fn kill_9_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = 0;
    for round in 0_usize..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["embedded::tests::child_that_writes", "--exact", "--nocapture"])
            .env("STELLAR_STORE_CHILD", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = io::BufReader::new(child.stdout.take().unwrap());
        let told = io::BufRead::lines(output).map_while(Result::ok);
        let numbers = told.filter_map(|told| told.split_once("acknowledged ")?.1.parse::<u64>().ok());
        let mut killed = false;
        for (count, seq) in numbers.enumerate() {
            acknowledged = seq;
            if count == 3 + round * 17 && !killed {
                child.kill().unwrap();
                killed = true;
            }
        }
        child.wait().unwrap();
        assert!(killed, "the child ended by itself after {acknowledged}");
        let store = Embedded::open(folder.path(), "parent", no_hold()).unwrap();
        let lines = store.store().log.read("r", 1, usize::MAX).await.unwrap();
        assert!(lines.len() as u64 >= acknowledged, "{} lines, {acknowledged} acknowledged", lines.len());
        for (seq, found) in (1..).zip(&lines) {
            assert_eq!(found, &line(seq));
        }
    }
}

#[derive(Debug)]
struct Faulty {
    file: FileBackend,
    syncs: Arc<AtomicU64>,
    broken: Arc<AtomicBool>,
}

impl StorageBackend for Faulty {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.syncs.fetch_add(1, Ordering::SeqCst);
        if self.broken.load(Ordering::SeqCst) {
            return Err(io::Error::other("injected"));
        }
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.file.write(offset, data)
    }

    fn close(&self) -> Result<(), io::Error> {
        self.file.close()
    }
}

fn faulty(path: &Path, syncs: &Arc<AtomicU64>, broken: &Arc<AtomicBool>) -> Result<Database, OpenError> {
    let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    let (syncs, broken) = (syncs.clone(), broken.clone());
    let file = FileBackend::new(file).unwrap();
    guarded(path, || Builder::new().create_with_backend(Faulty { file, syncs, broken }))
}
