//! A mission folder of a test, and the `stellar` processes that work in it.
//!
//! Every wait has a condition and a hang limit; a process that a test leaves behind is killed when its handle goes.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a harness fails its test at once")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;
use stellar_vm::time::Instant;
use tempfile::TempDir;

/// How long anything may take before a test calls it a hang.
pub const HANG: Duration = Duration::from_secs(60);

/// The configuration of [`Mission::simulated`].
const SIMULATED: &str = "\
procedures: [procedures/]
store: {embedded: {path: .stellar}}
targets:
  sim-1: {platform: platform-v3, link: {sim: {behaviours: sim.yaml}}}
";

/// A folder with a mission in it.
#[derive(Debug)]
pub struct Mission {
    folder: TempDir,
    program: PathBuf,
}

/// What a finished command said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Exit code; -1 where a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// What a command printed that follows a run.
#[derive(Debug, Clone)]
pub struct Ran {
    /// Exit code; -1 where a signal ended it.
    pub code: i32,
    /// The events.
    pub events: Vec<Value>,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The run's identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        self.one("run_started")["run"].as_str().expect("a run has an identifier")
    }

    /// The events of a type.
    #[must_use]
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        of(&self.events, kind)
    }

    /// The one event of a type.
    #[must_use]
    pub fn one(&self, kind: &str) -> &Value {
        let found = self.of(kind);
        assert_eq!(found.len(), 1, "events {kind} in {:#?}\n{}", self.events, self.err);
        found[0]
    }

    /// The failure of each attempt that failed.
    #[must_use]
    pub fn failures(&self) -> Vec<&str> {
        failures(&self.events)
    }

    /// From the first to the last event, in nanoseconds.
    #[must_use]
    pub fn lasted(&self) -> i64 {
        let (first, last) = (self.one("run_started"), self.one("run_finished"));
        at(last).since(at(first))
    }
}

/// The events of a type.
#[must_use]
pub fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

/// The failure of each attempt of a step that failed.
#[must_use]
pub fn failures(events: &[Value]) -> Vec<&str> {
    of(events, "step_finished").into_iter().filter_map(|event| event["failure"]["code"].as_str()).collect()
}

/// When an event happened.
#[must_use]
pub fn at(event: &Value) -> Instant {
    instant(&event["at"])
}

/// An instant as an event has it.
#[must_use]
pub fn instant(text: &Value) -> Instant {
    text.as_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no instant: {text}"))
}

impl Mission {
    /// An empty folder, with the `stellar` to use in it.
    #[must_use]
    pub fn empty(program: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("stellar-test-").tempdir().expect("a temporary folder");
        Self { folder, program: program.into() }
    }

    /// A mission with one target, `sim-1` of `platform-v3`, simulated after the scenario, and these procedures in
    /// `procedures/test.proc`.
    #[must_use]
    pub fn simulated(program: &str, procedures: &str, scenario: &str) -> Self {
        let mission = Self::empty(program);
        mission.write("stellar.yaml", SIMULATED).write("sim.yaml", scenario);
        mission.write("procedures/test.proc", procedures);
        mission
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("folders can be made");
        fs::write(path, text).expect("the file can be written");
        self
    }

    /// Reads a file.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).expect("the file can be read")
    }

    /// The command, in the folder, without what the environment may set.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("STELLAR_CONFIG").env_remove("NO_COLOR").env("COLUMNS", "80");
        command
    }

    /// Runs a command to its end.
    #[must_use]
    pub fn stellar(&self, arguments: &[&str]) -> Said {
        finish(self.command(arguments), arguments)
    }

    /// Runs a command that must end with exit code 0; gives its standard output.
    pub fn done(&self, arguments: &[&str]) -> String {
        let said = self.stellar(arguments);
        assert_eq!(said.code, 0, "stellar {arguments:?} failed\n{}\n{}", said.out, said.err);
        said.out
    }

    /// The JSON that a command prints; it must end with the code given.
    #[must_use]
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let said = self.stellar(arguments);
        assert_eq!(said.code, code, "stellar {arguments:?}\n{}\n{}", said.out, said.err);
        serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e} in {}", said.out))
    }

    /// Runs a procedure to where `stellar run` leaves it, in virtual time.
    #[must_use]
    pub fn run(&self, procedure: &str, arguments: &[&str]) -> Ran {
        self.ran(&[&["run", procedure, "--clock", "virtual", "--format", "json"], arguments].concat())
    }

    /// Resumes a run.
    #[must_use]
    pub fn resume(&self, run: &str, arguments: &[&str]) -> Ran {
        self.ran(&[&["resume", run, "--format", "json"], arguments].concat())
    }

    /// A command that prints events of one run.
    #[must_use]
    pub fn ran(&self, arguments: &[&str]) -> Ran {
        let Said { code, out, err } = self.stellar(arguments);
        Ran { code, events: events(&out), err }
    }

    /// The events of a run's log.
    #[must_use]
    pub fn log(&self, run: &str) -> Vec<Value> {
        events(&self.done(&["log", run, "--format", "json"]))
    }

    /// Starts a command that prints events of a log, one a line.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Going {
        Going::start(self.command(arguments))
    }

    /// The lines of a link's own record.
    #[must_use]
    pub fn record(&self, target: &str) -> Vec<Value> {
        let path = self.path().join(format!(".stellar/links/{target}.jsonl"));
        fs::read_to_string(path).map(|text| events(&text)).unwrap_or_default()
    }
}

/// The JSON objects of a text with one a line.
#[must_use]
pub fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line}"))).collect()
}

/// Runs a command to its end, within [`HANG`].
#[must_use]
pub fn finish(mut command: Command, arguments: &[&str]) -> Said {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("stellar starts");
    let out = drain(child.stdout.take());
    let err = drain(child.stderr.take());
    let status = wait(&mut child, &format!("{arguments:?}"));
    let text = |reader: JoinHandle<Vec<u8>>| String::from_utf8_lossy(&reader.join().expect("reader")).into_owned();
    Said { code: status.code().unwrap_or(-1), out: text(out), err: text(err) }
}

fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn wait(child: &mut Child, what: &str) -> ExitStatus {
    let begin = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return status;
        }
        if begin.elapsed() > HANG {
            let _ = child.kill();
            panic!("{what} did not end within {HANG:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A `stellar` process that goes on while the test looks at what it prints.
#[derive(Debug)]
pub struct Going {
    child: Child,
    lines: Receiver<String>,
    err: Option<JoinHandle<Vec<u8>>>,
    seen: Vec<Value>,
}

impl Going {
    /// Starts a command of this harness.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("stellar starts");
        let (sender, lines) = mpsc::channel();
        let out = child.stdout.take().expect("piped");
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let err = Some(drain(child.stderr.take()));
        Self { child, lines, err, seen: Vec::new() }
    }

    /// The events seen so far.
    #[must_use]
    pub fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// Waits for the first event, seen before or not, that the condition holds for.
    pub fn event(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(event) = self.seen.iter().find(|event| wanted(event)) {
            return event.clone();
        }
        let begin = std::time::Instant::now();
        loop {
            match self.lines.recv_timeout(HANG.saturating_sub(begin.elapsed())) {
                Ok(line) => {
                    let event: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}"));
                    self.seen.push(event.clone());
                    if wanted(&event) {
                        return event;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("no {what} within {HANG:?}; seen: {:#?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => {
                    let err = self.err.take().map(|reader| reader.join().unwrap_or_default()).unwrap_or_default();
                    panic!(
                        "the process ended without {what}: {}\nseen: {:#?}",
                        String::from_utf8_lossy(&err),
                        self.seen
                    )
                }
            }
        }
    }

    /// Waits for the first event of a type.
    pub fn event_of(&mut self, kind: &str) -> Value {
        self.event(kind, |event| event["type"] == kind)
    }

    /// The run's identifier.
    pub fn run(&mut self) -> String {
        self.event_of("run_started")["run"].as_str().expect("a run has an identifier").to_owned()
    }

    /// SIGKILL, and waits until the process is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("the process can be killed");
        wait(&mut self.child, "a killed process");
    }

    /// The process's identifier, to send it a signal.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end; gives its exit code and all events that it printed.
    pub fn end(mut self) -> (i32, Vec<Value>) {
        let status = wait(&mut self.child, "stellar");
        while let Ok(line) = self.lines.recv_timeout(HANG) {
            self.seen.push(serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e} in {line}")));
        }
        (status.code().unwrap_or(-1), std::mem::take(&mut self.seen))
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
