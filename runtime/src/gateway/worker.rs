//! The task of a gateway: telecommands in order, one at a time; what the link receives in between.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use stellar_vm::{catalogue::Stage, time::Instant};
use tokio::sync::{mpsc, oneshot};

use super::{
    GatewayOptions, TelecommandOrder,
    link::{ControlError, Delivery, Frame, HandOver, HandOverError, Link, Past, Received},
    names::{Named, Names},
    publisher::Publisher,
    resolve,
    samples::{self, Reception},
    status::Status,
};
use crate::{
    clock::Phase,
    crash,
    ports::{Claim, Look, StoreError, TargetItem, TelecommandResult},
};

/// Places kept free before each release, for what was received before it and is delivered behind it.
const STRAYS: u64 = 16;

/// How long the names of an earlier process are waited for, where its deadline is not known and no telecommand of the
/// platform says more.
const LONGEST_WINDOW: i64 = 10_000_000_000_000;

/// What the task is asked.
pub(super) enum Request {
    Offer(TelecommandOrder),
    Withdraw { run: Arc<str>, done: oneshot::Sender<()> },
    Control { request: String, done: oneshot::Sender<Result<String, ControlError>> },
    Close { done: oneshot::Sender<()> },
}

pub(super) struct Worker {
    options: GatewayOptions,
    link: Box<dyn Link>,
    publisher: Arc<Publisher>,
    status: Arc<Status>,
    names: Names,
    /// What earlier processes handed over, by the link's own record: also where the store has lost it.
    left: BTreeSet<Arc<str>>,
    queue: VecDeque<TelecommandOrder>,
    /// The last hand-over, and the places free before its release.
    released_at: Option<Instant>,
    free: std::ops::Range<u64>,
}

/// A telecommand that is encoded, with the stage behind which no report is waited for.
struct Ready {
    frame: Frame,
    last: Stage,
}

/// What there is to do next.
enum Next {
    Delivery(Delivery),
    Request(Request),
    Waited,
    Ended,
}

impl Worker {
    pub(super) fn new(
        options: &GatewayOptions,
        link: Box<dyn Link>,
        publisher: Arc<Publisher>,
        status: Arc<Status>,
        claimed: Vec<Past>,
        recorded: Vec<Past>,
    ) -> Self {
        let mut names = Names::default();
        let unknown = options.clock.now().after(LONGEST_WINDOW);
        let left = recorded.iter().map(|past| Arc::clone(&past.id)).collect();
        for Past { id, name, deadline } in claimed.into_iter().chain(recorded) {
            let deadline = deadline.unwrap_or(unknown);
            names.take(&name, Named { id, deadline, last: Stage::Completed, over: false });
        }
        Self {
            options: options.clone(),
            link,
            publisher,
            status,
            names,
            left,
            queue: VecDeque::new(),
            released_at: None,
            free: 0..0,
        }
    }

    pub(super) async fn run(
        mut self,
        mut requests: mpsc::UnboundedReceiver<Request>,
        mut inbox: mpsc::Receiver<Delivery>,
    ) {
        loop {
            let until = self.send_what_may_leave(&mut inbox).await;
            let until = match until {
                Ok(until) => until,
                Err(error) => {
                    // What was not claimed never leaves; what was may have left. Nobody is told otherwise.
                    self.status.failed(error.to_string());
                    break;
                }
            };
            match self.next(until, &mut requests, &mut inbox).await {
                Next::Delivery(delivery) => self.delivered(delivery),
                Next::Request(request) => match self.asked(request, &mut requests).await {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        self.status.failed(error.to_string());
                        break;
                    }
                },
                Next::Waited => {}
                Next::Ended => break,
            }
        }
        self.publisher.close();
    }

    async fn next(
        &mut self,
        until: Option<Instant>,
        requests: &mut mpsc::UnboundedReceiver<Request>,
        inbox: &mut mpsc::Receiver<Delivery>,
    ) -> Next {
        let clock = &self.options.clock;
        let waited = async {
            match until {
                Some(until) => clock.sleep_until(until, Phase::Link).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            Some(delivery) = inbox.recv() => Next::Delivery(delivery),
            request = requests.recv() => request.map_or(Next::Ended, Next::Request),
            () = waited => Next::Waited,
        }
    }

    /// Does what is asked; `false` where it is to end.
    async fn asked(
        &mut self,
        request: Request,
        requests: &mut mpsc::UnboundedReceiver<Request>,
    ) -> Result<bool, StoreError> {
        match request {
            Request::Offer(order) => self.queue.push_back(order),
            Request::Withdraw { run, done } => {
                let (of_run, others) = std::mem::take(&mut self.queue)
                    .into_iter()
                    .partition::<Vec<_>, _>(|order| order.run.as_ref() == Some(&run));
                self.queue = others.into();
                for order in of_run {
                    self.never(&order, "never left: its run withdrew it").await?;
                }
                // Whoever asked may have gone.
                let _ = done.send(());
            }
            Request::Control { request, done } => {
                let _ = done.send(self.link.control(&request));
            }
            Request::Close { done } => {
                requests.close();
                for order in std::mem::take(&mut self.queue) {
                    self.never(&order, "never left: the gateway was closed").await?;
                }
                let _ = done.send(());
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends from the head of the queue what may leave now, and gives the instant at which more is to be done.
    async fn send_what_may_leave(
        &mut self,
        inbox: &mut mpsc::Receiver<Delivery>,
    ) -> Result<Option<Instant>, StoreError> {
        loop {
            let now = self.options.clock.now();
            self.drop_late(now).await?;
            let Some(order) = self.queue.pop_front() else { return Ok(None) };
            let ready = match self.encode(&order) {
                Ok(ready) => ready,
                Err(reason) => {
                    self.not_encoded(&order, reason).await?;
                    continue;
                }
            };
            if ready.frame.exclusive
                && let Some(until) = self.names.under_way(&ready.frame.name, now)
            {
                self.queue.push_front(order);
                let deadlines = self.queue.iter().map(|order| order.deadline);
                return Ok(deadlines.chain([until]).min());
            }
            self.send(&order, &ready, inbox).await?;
        }
    }

    /// Drops what is too late, wherever it stands in the queue.
    async fn drop_late(&mut self, now: Instant) -> Result<(), StoreError> {
        while let Some(place) = self.queue.iter().position(|order| now >= order.deadline) {
            if let Some(order) = self.queue.remove(place) {
                self.never(&order, LATE).await?;
            }
        }
        Ok(())
    }

    fn encode(&mut self, order: &TelecommandOrder) -> Result<Ready, String> {
        let (command, last) = resolve::command(&self.options.platform, order)?;
        let frame = self.link.encode(&command).map_err(|error| error.to_string())?;
        Ok(Ready { frame, last })
    }

    async fn send(
        &mut self,
        order: &TelecommandOrder,
        ready: &Ready,
        inbox: &mut mpsc::Receiver<Delivery>,
    ) -> Result<(), StoreError> {
        let Ready { frame, last } = ready;
        if self.left.contains(&order.id) {
            let detail = format!("{} {} is in the link's record", order.id, order.path());
            self.status.anomaly("handed-over-before", detail);
            return self.tell_what_stands(order).await;
        }
        let claim = Claim {
            id: order.id.to_string(),
            run: order.run.as_deref().map(str::to_owned),
            target: self.options.target.to_string(),
            nonce: self.options.nonce.to_string(),
            link: Some(frame.name.to_string()),
            claimed_at: self.options.clock.now(),
        };
        crash::point("claim.before");
        match self.options.telecommands.claim(claim).await {
            Ok(()) => crash::point("claim.after"),
            Err(StoreError::Conflict(_)) => return self.tell_what_stands(order).await,
            Err(error) => return Err(error),
        }
        // What came before this one leaves stands before its release.
        while let Ok(delivery) = inbox.try_recv() {
            self.delivered(delivery);
        }
        let at = self.options.clock.now();
        if at >= order.deadline {
            return self.not_released(order, LATE.to_owned()).await;
        }
        let first = self.publisher.next_order();
        let place = (0..STRAYS).fold(first, |_, _| self.publisher.next_order());
        let named = Named { id: Arc::clone(&order.id), deadline: order.deadline, last: *last, over: false };
        self.names.take(&frame.name, named);
        let clock = &self.options.clock;
        crash::point("hand-over.before");
        let handed_over = tokio::select! {
            biased;
            result = self.link.hand_over(HandOver { frame, order, at }) => result,
            () = clock.sleep_until(order.deadline, Phase::Link) =>
                Err(HandOverError::Doubtful("the link did not take it within its window".to_owned())),
        };
        crash::point("hand-over.after");
        match handed_over {
            Ok(()) => {
                (self.released_at, self.free) = (Some(at), first..place);
                let result = TelecommandResult::Released { order: place, at };
                crash::point("result.before");
                self.options.telecommands.result(&order.id, result).await?;
                crash::point("result.after");
                self.publisher.publish(TargetItem::Release { id: Arc::clone(&order.id), order: place, at });
                Ok(())
            }
            Err(HandOverError::Refused(reason)) => {
                self.names.release(&frame.name);
                self.not_released(order, format!("never left: {reason}")).await
            }
            Err(HandOverError::Doubtful(reason)) => {
                // No result: it may have left, and its reports say more.
                (self.released_at, self.free) = (Some(at), first..place);
                self.status.anomaly("doubtful-hand-over", format!("{} {}: {reason}", order.id, order.path()));
                Ok(())
            }
        }
    }

    /// Makes sure that a telecommand that is not claimed never leaves, and publishes it.
    async fn never(&mut self, order: &TelecommandOrder, reason: &str) -> Result<(), StoreError> {
        let now = self.options.clock.now();
        match self.options.telecommands.cut(&order.id, reason, now).await? {
            Look::Result(result) => self.publish_result(&order.id, result),
            Look::Claimed(_) | Look::NotClaimed => {}
        }
        Ok(())
    }

    async fn not_encoded(&mut self, order: &TelecommandOrder, reason: String) -> Result<(), StoreError> {
        let result = TelecommandResult::EncodeFailed { reason, at: self.options.clock.now() };
        match self.options.telecommands.result(&order.id, result.clone()).await {
            Ok(()) => self.publish_result(&order.id, result),
            Err(StoreError::Conflict(_)) => return self.tell_what_stands(order).await,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The result of one that is claimed.
    async fn not_released(&mut self, order: &TelecommandOrder, reason: String) -> Result<(), StoreError> {
        let result = TelecommandResult::NotReleased { reason, at: self.options.clock.now() };
        self.options.telecommands.result(&order.id, result.clone()).await?;
        self.publish_result(&order.id, result);
        Ok(())
    }

    /// An identifier that the store knows is not handed over; its result is told again.
    async fn tell_what_stands(&mut self, order: &TelecommandOrder) -> Result<(), StoreError> {
        match self.options.telecommands.look(&order.id).await? {
            Look::Result(result) => self.publish_result(&order.id, result),
            Look::Claimed(_) | Look::NotClaimed => {}
        }
        Ok(())
    }

    fn publish_result(&self, id: &Arc<str>, result: TelecommandResult) {
        let id = Arc::clone(id);
        self.publisher.publish(match result {
            TelecommandResult::Released { order, at } => TargetItem::Release { id, order, at },
            TelecommandResult::NotReleased { reason, at } => {
                TargetItem::NotReleased { id, order: self.publisher.next_order(), at, reason }
            }
            TelecommandResult::EncodeFailed { reason, at } => {
                TargetItem::EncodeFailed { id, order: self.publisher.next_order(), at, reason }
            }
        });
    }

    fn delivered(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::Received(received, at) => self.received(received, at),
            // Whoever asked may have gone.
            Delivery::Flush(done) => drop(done.send(())),
        }
    }

    fn received(&mut self, received: Received, at: Instant) {
        match received {
            Received::Report { name, stage, failure } => {
                let Some(id) = self.names.report(&name, stage, failure.is_some()) else {
                    let detail = format!("a report on `{name}`, which nothing sent from here is named");
                    return self.status.anomaly("unknown-telecommand", detail);
                };
                let order = self.place(at).unwrap_or_else(|| self.publisher.next_order());
                let ok = failure.is_none();
                self.publisher.publish(TargetItem::Report { id, order, at, stage, ok, code: failure });
            }
            Received::Samples { samples, replayed } => self.samples(&samples, replayed, at),
            Received::Link { up, reason } => self.status.link(up, reason),
            Received::Anomaly { kind, detail } => self.status.anomaly(kind, detail),
        }
    }

    fn samples(&mut self, raw: &[super::link::RawSample], replayed: bool, at: Instant) {
        let stray = self.released_at.is_some_and(|released| at < released);
        let place = self.place(at);
        // Before the release and without a place there: it could be taken for an answer, so it is not judged.
        let replayed = replayed || (stray && place.is_none());
        let GatewayOptions { target, platform, .. } = &self.options;
        let reception = Reception { target, platform, at, replayed };
        let publisher = &self.publisher;
        let packet = publisher.with_latest(|latest| {
            samples::receive(reception, raw, latest, || place.unwrap_or_else(|| publisher.next_order()))
        });
        if packet.unknown > 0 {
            let detail = format!("{} samples of parameters that `{}` does not have", packet.unknown, platform.name);
            self.status.anomaly("unknown-parameter", detail);
        }
        if !packet.samples.is_empty() {
            publisher.publish(TargetItem::Samples { samples: packet.samples });
        }
    }

    /// A place before the last release, for what was received before it.
    fn place(&mut self, at: Instant) -> Option<u64> {
        if self.released_at.is_some_and(|released| at < released) { self.free.next() } else { None }
    }
}

/// Why what is too late is not sent.
const LATE: &str = "never left: its verification window had ended";
