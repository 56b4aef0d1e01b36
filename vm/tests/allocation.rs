//! What a waiting machine holds, and that asking it costs nothing; counted by the allocator.

#[cfg(test)]
#[expect(dead_code, reason = "the harness of the scenarios, of which a part is used")]
mod support;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stellar_vm::{
        event::{Fact, TelecommandStatus, Transition},
        machine::{Advance, Machine, PendingKind},
        value::Scalar,
        verify::Verified,
    };

    use crate::support::*;

    /// A run three calls deep whose step has sent a telecommand and waits for telemetry.
    fn program_that_waits() -> Arc<Verified> {
        let body = vec![
            St::Let("n", INT, int(3)),
            St::Send("ping", vec![]),
            St::ExpectHeld(above("temperature", 10.0), S, 5 * S),
        ];
        let inner = procedure("Inner", vec![St::Do("A", None)]);
        let middle = procedure("Middle", vec![St::Run("Inner", None)]);
        program(vec![procedure("P", vec![St::Run("Middle", None)]), middle, inner, step("A", body)])
    }

    fn until_it_waits(machine: &mut Machine) {
        machine.accept(&World::started("P"), instant(0)).unwrap();
        let leases = Fact::Leases { taken: vec!["sim-1".into()], shared: false, refused: None };
        machine.accept(&leases, instant(0)).unwrap();
        while let Advance::Emit(transition) = machine.advance(instant(0)) {
            let Transition::TelecommandSent { id, .. } = transition else { continue };
            let completed = Fact::TelecommandStatus {
                id,
                status: TelecommandStatus::Completed,
                received_at: instant(0),
                order: Some(1),
                stage: None,
                code: None,
                reason: None,
            };
            machine.accept(&completed, instant(0)).unwrap();
        }
    }

    #[test]
    fn a_waiting_machine_is_4_kib_or_less_beyond_its_program() {
        let program = program_that_waits();
        let mut machine = None;
        let counted = allocation_counter::measure(|| {
            let mut waiting = Machine::new(Arc::clone(&program));
            until_it_waits(&mut waiting);
            machine = Some(waiting);
        });
        let machine = machine.unwrap();
        assert!(machine.pending().any(|pending| pending.kind == PendingKind::Condition));
        let bytes = usize::try_from(counted.bytes_current).unwrap() + size_of::<Machine>();
        assert!(bytes <= 4096, "{bytes} bytes");
    }

    #[test]
    fn asking_what_samples_decide_allocates_nothing() {
        let mut machine = Machine::new(program_that_waits());
        until_it_waits(&mut machine);
        let mut telemetry = Telemetry::default();
        for (value, settles) in [(5.0, false), (15.0, true)] {
            telemetry.put("temperature", Scalar::Float(value), instant(0), 2);
            let counted = allocation_counter::measure(|| assert_eq!(machine.would_settle(&telemetry), settles));
            assert_eq!(counted.count_total, 0);
        }
    }
}
