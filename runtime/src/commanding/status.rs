//! What a gateway publishes and stores of a telecommand, as a fact of the run that sent it.

use std::sync::Arc;

use stellar_vm::{
    catalogue::Stage,
    event::{Fact, TelecommandStatus},
    time::Instant,
};

use crate::ports::{TargetItem, TelecommandResult};

/// The fields of a status that are set.
#[derive(Default)]
struct Details {
    order: Option<u64>,
    stage: Option<Stage>,
    code: Option<String>,
    reason: Option<String>,
}

fn fact(id: &Arc<str>, status: TelecommandStatus, received_at: Instant, details: Details) -> Fact {
    let Details { order, stage, code, reason } = details;
    Fact::TelecommandStatus { id: id.clone(), status, received_at, order, stage, code, reason }
}

fn good(stage: Stage) -> TelecommandStatus {
    match stage {
        Stage::Accepted => TelecommandStatus::Accepted,
        Stage::Started => TelecommandStatus::Started,
        Stage::Completed => TelecommandStatus::Completed,
    }
}

/// The fact that an item is; `None` for samples.
#[must_use]
pub fn status_fact(item: &TargetItem) -> Option<Fact> {
    Some(match item {
        TargetItem::Release { id, order, at } => {
            let details = Details { order: Some(*order), ..Details::default() };
            fact(id, TelecommandStatus::Released, *at, details)
        }
        TargetItem::NotReleased { id, at, reason, .. } => {
            let details = Details { reason: Some(reason.clone()), ..Details::default() };
            fact(id, TelecommandStatus::NotReleased, *at, details)
        }
        TargetItem::EncodeFailed { id, at, reason, .. } => {
            let details = Details { reason: Some(reason.clone()), ..Details::default() };
            fact(id, TelecommandStatus::EncodeFailed, *at, details)
        }
        TargetItem::Report { id, at, stage, ok: true, .. } => fact(id, good(*stage), *at, Details::default()),
        TargetItem::Report { id, at, stage, ok: false, code, .. } => {
            let details = Details { stage: Some(*stage), code: code.clone(), ..Details::default() };
            fact(id, TelecommandStatus::Failed, *at, details)
        }
        TargetItem::Samples { .. } => return None,
    })
}

/// The fact that a stored result is.
#[must_use]
pub fn result_fact(id: &Arc<str>, result: &TelecommandResult) -> Fact {
    match result {
        TelecommandResult::Released { order, at } => {
            let details = Details { order: Some(*order), ..Details::default() };
            fact(id, TelecommandStatus::Released, *at, details)
        }
        TelecommandResult::NotReleased { reason, at } => {
            let details = Details { reason: Some(reason.clone()), ..Details::default() };
            fact(id, TelecommandStatus::NotReleased, *at, details)
        }
        TelecommandResult::EncodeFailed { reason, at } => {
            let details = Details { reason: Some(reason.clone()), ..Details::default() };
            fact(id, TelecommandStatus::EncodeFailed, *at, details)
        }
    }
}
