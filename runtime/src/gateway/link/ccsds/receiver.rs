//! The task that receives: from the socket through the decoder into the gateway's inbox.

use std::sync::Arc;
use std::time::Duration;

use stellar_vm::catalogue::Stage;
use stellar_vm::time::Instant;

use super::decoder::{Decoder, Known};
use super::oddity::Oddity;
use super::report::{Phase, Report};
use super::udp::{Incoming, Udp};
use crate::clock::Clock;
use crate::gateway::link::{Closed, Inbox, Received};

/// How long a socket that failed is left alone: errors must not turn in a circle.
const AFTER_AN_ERROR: Duration = Duration::from_millis(100);

/// What receives for one link.
#[derive(Debug)]
pub(super) struct Receiver {
    udp: Arc<Udp>,
    decoder: Decoder,
    clock: Clock,
    /// Telemetry of an on-board time older than this, in nanoseconds, is played back.
    replayed_after: Option<i64>,
    inbox: Inbox,
}

impl Receiver {
    /// A receiver that delivers into `inbox`.
    pub(super) fn new(
        udp: Arc<Udp>,
        decoder: Decoder,
        clock: Clock,
        replayed_after: Option<i64>,
        inbox: Inbox,
    ) -> Self {
        Self { udp, decoder, clock, replayed_after, inbox }
    }

    /// Receives until the gateway ends, which is the only way in which it ends.
    pub(super) async fn run(self) -> Result<(), Closed> {
        self.inbox.deliver(Received::Link { up: true, reason: None }, self.clock.now()).await?;
        let mut up = true;
        loop {
            let incoming = self.udp.receive().await;
            let at = self.clock.now();
            match incoming {
                Ok(incoming) => {
                    if !up {
                        self.inbox.deliver(Received::Link { up: true, reason: None }, at).await?;
                    }
                    up = true;
                    for received in self.read(&incoming) {
                        self.inbox.deliver(received, at).await?;
                    }
                }
                Err(error) => {
                    if up {
                        let reason = Some(format!("the socket: {error}"));
                        self.inbox.deliver(Received::Link { up: false, reason }, at).await?;
                    }
                    up = false;
                    tokio::time::sleep(AFTER_AN_ERROR).await;
                }
            }
        }
    }

    fn read(&self, incoming: &Incoming) -> Vec<Received> {
        match incoming {
            Incoming::Stranger(from) => {
                vec![Received::Anomaly {
                    kind: Oddity::Stranger.kind(),
                    detail: format!("{} ({from})", Oddity::Stranger),
                }]
            }
            Incoming::Datagram(datagram) => read(&self.decoder, datagram, self.replayed_after, self.clock.utc_now()),
        }
    }
}

/// What a datagram tells the gateway, in the order of its packets; what could not be used stands last.
pub(super) fn read(decoder: &Decoder, datagram: &[u8], replayed_after: Option<i64>, utc: Instant) -> Vec<Received> {
    let mut oddities = Vec::new();
    let mut received = Vec::new();
    for Known { time, report, samples } in decoder.decode(datagram, &mut oddities) {
        let age = time.map(|time| utc.ns.saturating_sub(time));
        let replayed = matches!((age, replayed_after), (Some(age), Some(limit)) if age > limit);
        match report {
            Some(_) if replayed => oddities.push(Oddity::ReplayedReport),
            Some(report) => received.extend(told(&report)),
            None => {}
        }
        if !samples.is_empty() {
            received.push(Received::Samples { samples, replayed });
        }
    }
    let anomaly = |oddity: Oddity| Received::Anomaly { kind: oddity.kind(), detail: oddity.to_string() };
    received.extend(oddities.into_iter().map(anomaly));
    received
}

/// A report as the gateway takes it; a good one on a step of the execution is of no stage.
fn told(report: &Report) -> Option<Received> {
    let stage = match report.phase {
        Phase::Acceptance => Stage::Accepted,
        Phase::Start => Stage::Started,
        // A step that failed ends the execution: it will not be completed.
        Phase::Progress if report.failure.is_some() => Stage::Completed,
        Phase::Progress => return None,
        Phase::Completion => Stage::Completed,
    };
    let failure = report.failure.as_ref().map(ToString::to_string);
    Some(Received::Report { name: report.request.to_string().into(), stage, failure })
}
