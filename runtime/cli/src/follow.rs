//! Following a run that goes on in this process: its events as they come, what an operator must say, its end.

use std::{
    collections::BTreeSet,
    io::{self, IsTerminal},
    sync::Arc,
};

use stellar_runtime::{
    executor::{ControlError, ControlReply, Ending, Executor, RunHandle},
    journal::Follower,
    ports::{Line, Sample},
};
use stellar_vm::event::{Body, Event, Fact, RunOutcome, Transition};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

use crate::{
    args::{Format, Global},
    commands::event_of,
    exit::{Exit, Failure},
    live::{EVERY, Live},
    look,
    operator::{Asked, Beforehand, Open, Reply},
    output,
    render::Render,
    typed::Typed,
};

/// Who follows, and how.
pub(crate) struct Following<'a> {
    executor: &'a Executor,
    run: RunHandle,
    beforehand: &'a Beforehand,
    format: Format,
    by: String,
    render: Render,
    open: Open,
    live: Live,
    /// Whether somebody is there to ask.
    asking: bool,
    /// An operator has asked for a suspension by Ctrl-C.
    suspending: bool,
    /// A suspended run is about to be resumed.
    resuming: bool,
    /// What was answered, or asked on the terminal.
    served: BTreeSet<Arc<str>>,
}

/// What comes next.
enum Next {
    Line(Option<Line>),
    Typed(Option<String>),
    Interrupt,
    Tick,
}

impl<'a> Following<'a> {
    /// Follows `run`.
    pub(crate) fn new(
        executor: &'a Executor,
        run: RunHandle,
        beforehand: &'a Beforehand,
        format: Format,
        global: &Global,
    ) -> Self {
        let asking = io::stdin().is_terminal() && io::stderr().is_terminal();
        let render = Render::new(output::colored(global.color, &io::stdout()));
        let live = Live::new(format == Format::Text && io::stderr().is_terminal());
        let (open, by) = (Open::default(), by());
        let served = BTreeSet::new();
        Self {
            executor,
            run,
            beforehand,
            format,
            by,
            render,
            open,
            live,
            asking,
            suspending: false,
            resuming: false,
            served,
        }
    }

    /// Follows a run that was told to go on: where its log leaves it suspended, that is no end until it is resumed.
    pub(crate) fn resuming(mut self, log: &[Line]) -> Result<Self, Failure> {
        let mut open = Open::default();
        for line in log {
            open.take(&event_of(&line.text)?);
        }
        self.resuming = open.suspended();
        Ok(self)
    }

    /// Follows to the end: of the run, of what this process can do for it, or to where an operator is needed and none
    /// is there. Events before number `from` are taken in, and not shown.
    pub(crate) async fn until_it_ends(mut self, from: u64) -> Result<Exit, Failure> {
        let exit = self.follow(from).await;
        self.live.clear();
        if let Ok(exit) = exit {
            self.beforehand.tell_unused(exit);
        }
        exit
    }

    async fn follow(&mut self, from: u64) -> Result<Exit, Failure> {
        let mut events = self.run.events(1);
        let mut typed =
            Typed::listen(self.asking).map_err(|e| Failure::failed(format!("the terminal cannot be read: {e}")))?;
        let mut interrupts = signal(SignalKind::interrupt())
            .map_err(|e| Failure::failed(format!("no signal can be listened to: {e}")))?;
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let virtual_time = self.executor.clock().is_virtual();
        loop {
            let held =
                (virtual_time && self.asking && !self.open.asked().is_empty()).then(|| self.executor.clock().busy());
            let next =
                next(&mut events, &mut typed, &mut interrupts, &mut ticks, self.live.shown() && !virtual_time).await;
            drop(held);
            match next? {
                Next::Line(Some(line)) => {
                    if let Some(exit) = self.line(&line, from).await? {
                        return Ok(exit);
                    }
                }
                Next::Line(None) => return self.over().await,
                Next::Typed(Some(line)) => self.typed(&line).await?,
                Next::Typed(None) => {
                    // The terminal was closed: from here on nobody is there to ask.
                    self.asking = false;
                    self.served.clear();
                    if let Some(exit) = self.serve().await? {
                        return Ok(exit);
                    }
                }
                Next::Interrupt => {
                    if self.suspending {
                        self.say(&format!("left as it is; go on with: stellar resume {}", self.run.id()));
                        return Ok(Exit::Waiting);
                    }
                    self.suspending = true;
                    self.say("suspending the run; Ctrl-C again leaves it to be taken over");
                    let reply = self.run.suspend(&self.by, None).await;
                    self.told(reply)?;
                }
                Next::Tick => self.draw().await?,
            }
        }
    }

    /// Shows an event and does what it asks for; gives the exit code where the following ends.
    async fn line(&mut self, line: &Line, from: u64) -> Result<Option<Exit>, Failure> {
        let event = event_of(&line.text)?;
        let new = line.seq >= from;
        if new {
            self.show(line, &event)?;
        }
        match &event.body {
            Body::Transition(Transition::RunFinished { outcome, .. }) => {
                // The record is written and the leases are free when the task has ended.
                let _ = self.run.ended().await;
                return Ok(Some(if *outcome == RunOutcome::Passed { Exit::Done } else { Exit::Failed }));
            }
            // One of before this process took the run up says nothing of the resumption that is under way.
            Body::Fact(Fact::Resumed { .. } | Fact::Leases { refused: Some(_), .. }) if new => self.resuming = false,
            _ => {}
        }
        self.open.take(&event);
        // What was asked and answered before this process took the run up is no question to anybody.
        if new { self.serve().await } else { Ok(None) }
    }

    /// Sees to what is open; gives the exit code where an operator is needed and none is there.
    async fn serve(&mut self) -> Result<Option<Exit>, Failure> {
        if self.open.suspended() {
            if self.asking || self.resuming {
                return Ok(None);
            }
            self.say(&format!("the run is suspended; go on with: stellar resume {}", self.run.id()));
            return Ok(Some(Exit::Waiting));
        }
        for asked in self.open.asked().to_vec() {
            if !self.served.insert(asked.id().clone()) {
                continue;
            }
            if let Some(reply) = self.beforehand.reply(&asked)
                && self.send(&asked, reply).await?
            {
                continue;
            }
            if self.asking {
                self.ask(&asked);
            } else {
                let hint = hint(&asked);
                self.say(&format!(
                    "the run waits for an operator; go on with: stellar resume {} {hint}",
                    self.run.id()
                ));
                return Ok(Some(Exit::Waiting));
            }
        }
        Ok(None)
    }

    fn show(&mut self, line: &Line, event: &Event) -> Result<(), Failure> {
        let text = match self.format {
            Format::Json => format!("{}\n", line.text),
            Format::Text => format!("{}\n", self.render.event(event)),
        };
        let mut printed = Ok(());
        self.live.above(|| printed = output::print(&text));
        printed
    }

    /// Says something that is no event.
    fn say(&self, text: &str) {
        self.live.above(|| output::tell(&format!("stellar: {text}")));
    }

    fn ask(&self, asked: &Asked) {
        let what = match asked {
            Asked::Question { text, .. } => text.clone(),
            Asked::Decision { step, .. } => {
                format!("what about \"{}\"?", step.last().map(AsRef::as_ref).unwrap_or_default())
            }
        };
        self.live.above(|| output::tell(&format!("{what} [{}]", asked.choices().join(", "))));
    }

    /// Sends a reply; `false` where it was none of what is offered, so that the matter is open as before.
    async fn send(&self, asked: &Asked, reply: Reply) -> Result<bool, Failure> {
        let told = match reply {
            Reply::Answer(value) => self.run.answer(&self.by, None, asked.id(), &value).await,
            Reply::Decide(option) => self.run.decide(&self.by, None, asked.id(), option).await,
        };
        let offered = !matches!(told, Ok(ControlReply::Declined { code: "run::not-offered", .. }));
        self.told(told)?;
        Ok(offered)
    }

    /// Says what became of a message, where it did not become an event that is shown anyway.
    fn told(&self, reply: Result<ControlReply, ControlError>) -> Result<(), Failure> {
        match reply {
            Ok(ControlReply::Applied { .. }) | Err(ControlError::Ended(_)) => {}
            Ok(ControlReply::Declined { why, .. }) => self.say(&format!("declined: {why}")),
            Ok(ControlReply::Stored { .. }) => self.say("stored, and not applied yet"),
            Err(ControlError::Store(error)) => return Err(look::store(error)),
            Err(error) => self.say(&error.to_string()),
        }
        Ok(())
    }

    /// A line that an operator typed: it goes to the oldest thing that is open.
    async fn typed(&mut self, line: &str) -> Result<(), Failure> {
        if self.open.suspended() {
            let told = match line.trim() {
                "resume" => self.run.resume(&self.by, None).await,
                "abort" => self.run.abort(&self.by, None).await,
                "" => return Ok(()),
                _ => {
                    self.say("the run is suspended: `resume` or `abort`");
                    return Ok(());
                }
            };
            self.suspending = false;
            return self.told(told);
        }
        let Some(asked) = self.open.asked().first().cloned() else {
            if !line.trim().is_empty() {
                self.say("nothing is asked at present");
            }
            return Ok(());
        };
        match asked.read(line) {
            Some(reply) => self.send(&asked, reply).await.map(drop),
            None => {
                self.ask(&asked);
                Ok(())
            }
        }
    }

    async fn draw(&self) -> Result<(), Failure> {
        let Some(view) = self.run.view().await else { return Ok(()) };
        let record = self.run.record().await.map_err(look::store)?;
        let mut samples: Vec<Sample> = Vec::new();
        for target in record.iter().flat_map(|record| record.targets.values()) {
            samples.extend(self.executor.store().archive.latest(target).await.map_err(look::store)?);
        }
        self.live.draw(&view, self.executor.clock().now(), &samples);
        Ok(())
    }

    /// Nobody writes any more, and the run has not finished.
    async fn over(&self) -> Result<Exit, Failure> {
        match self.run.ended().await {
            Some(Ending::Halted(why)) => Err(Failure::failed(format!("run {} is halted: {why}", self.run.id()))),
            Some(Ending::Left(why)) => {
                self.say(&format!("{why}; go on with: stellar resume {}", self.run.id()));
                Ok(Exit::Waiting)
            }
            Some(Ending::Finished(RunOutcome::Passed)) => Ok(Exit::Done),
            Some(Ending::Finished(_)) => Ok(Exit::Failed),
            None => Err(Failure::failed(format!("run {} is not under way in this process", self.run.id()))),
        }
    }
}

async fn next(
    events: &mut Follower,
    typed: &mut Typed,
    interrupts: &mut Signal,
    ticks: &mut tokio::time::Interval,
    drawing: bool,
) -> Result<Next, Failure> {
    tokio::select! {
        biased;
        line = events.next() => Ok(Next::Line(line.map_err(look::store)?)),
        line = typed.next() => Ok(Next::Typed(line)),
        _ = interrupts.recv() => Ok(Next::Interrupt),
        _ = ticks.tick(), if drawing => Ok(Next::Tick),
    }
}

/// How the command line answers this.
pub(crate) fn hint(asked: &Asked) -> String {
    let choice = asked.choices().into_iter().next().unwrap_or_default();
    match asked {
        Asked::Question { text, .. } => format!("--answer \"{text}={choice}\""),
        Asked::Decision { step, .. } => {
            format!("--decide \"{}={choice}\"", step.last().map(AsRef::as_ref).unwrap_or_default())
        }
    }
}

/// Who sits at this terminal: `os:ada`.
pub(crate) fn by() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|it| !it.is_empty()));
    let name = name.unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
    format!("os:{name}")
}
