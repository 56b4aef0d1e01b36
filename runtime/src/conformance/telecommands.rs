//! The contract of [`crate::ports::Telecommands`].

use stellar_vm::time::{Instant, Scale};

use super::{Checked, Subject, conflict, good, reopen, same};
use crate::ports::{Claim, Look, Store, TelecommandResult};

const AT: Instant = Instant { ns: 1_790_000_000_000_000_000, scale: Scale::Utc };

fn claim(id: &str, target: &str) -> Claim {
    Claim {
        id: id.to_owned(),
        run: Some(String::from("r")),
        target: target.to_owned(),
        nonce: String::from("n"),
        link: Some(String::from("1802c001")),
        claimed_at: AT,
    }
}

fn released(order: u64) -> TelecommandResult {
    TelecommandResult::Released { order, at: AT }
}

fn refused() -> TelecommandResult {
    TelecommandResult::NotReleased { reason: String::from("the link is down"), at: AT }
}

pub(super) async fn check(subject: &mut dyn Subject) -> Checked {
    write(&subject.store()).await?;
    reopen(subject).await?;
    let tc = subject.store().telecommands;
    same("results are kept", &good("look", tc.look("a").await)?, &Look::Result(released(7)))?;
    same("claims are kept", &good("look", tc.look("d").await)?, &Look::Claimed(claim("d", "sim-1")))?;
    conflict("and stand against claims after a crash", tc.claim(claim("d", "sim-1")).await)?;
    let open = good("open", tc.open("sim-1").await)?;
    same("what is claimed and has no result is found by target", &open, &vec![claim("d", "sim-1")])?;
    let open = good("open", tc.open("sim-10").await)?;
    same("of that target alone", &open, &vec![claim("e", "sim-10")])
}

async fn write(store: &Store) -> Checked {
    let tc = &store.telecommands;
    same("unknown is not claimed", &good("look", tc.look("a").await)?, &Look::NotClaimed)?;
    good("claim", tc.claim(claim("a", "sim-1")).await)?;
    conflict("a claim is made once", tc.claim(claim("a", "sim-1")).await)?;
    let cut = tc.cut("a", "too late", AT).await;
    same("what is claimed is not cut", &good("cut", cut)?, &Look::Claimed(claim("a", "sim-1")))?;
    good("a claimed one has its result", tc.result("a", released(7)).await)?;
    good("the same result again is acknowledged", tc.result("a", released(7)).await)?;
    conflict("a result is final", tc.result("a", refused()).await)?;
    conflict("a result stands against a claim", tc.claim(claim("a", "sim-1")).await)?;
    let cut = tc.cut("a", "too late", AT).await;
    same("what has its result is not cut", &good("cut", cut)?, &Look::Result(released(7)))?;

    conflict("nothing leaves without a claim", tc.result("b", released(8)).await)?;
    good("without a claim it can only be said that it never left", tc.result("b", refused()).await)?;
    conflict("which stands against a claim", tc.claim(claim("b", "sim-1")).await)?;

    let never = TelecommandResult::NotReleased { reason: String::from("too late"), at: AT };
    let cut = tc.cut("c", "too late", AT).await;
    same("what nobody claimed is cut", &good("cut", cut)?, &Look::Result(never))?;
    conflict("what was cut is not claimed", tc.claim(claim("c", "sim-1")).await)?;

    good("claim", tc.claim(claim("d", "sim-1")).await)?;
    good("claim", tc.claim(claim("e", "sim-10")).await)
}
