//! Acceptance of telecommands and the choice of the service that handles each.

use std::error::Error;
use std::sync::mpsc;

use arbitrary_int::u11;
use satrs::ComponentId;
use satrs::pus::test::{PusService17TestHandler, PusService17TestHandlerDynWithMpsc};
use satrs::pus::verification::{
    FailParams, TcStateAccepted, VerificationReporter, VerificationReporterConfig, VerificationReportingProvider,
    VerificationToken,
};
use satrs::pus::{DirectPusPacketHandlerResult, EcssTcAndToken, EcssTcVecCacher, HandlingStatus, PusServiceHelper};
use satrs::res_code::ResultU16;
use satrs::spacepackets::ecss::{PusPacket, PusServiceId, tc::PusTcReader};
use satrs::spacepackets::time::cds::CdsTime;
use satrs::tmtc::PacketAsVec;

use super::funnel::TIMESTAMP_LEN;
use super::{APID, INVALID_SERVICE, INVALID_SUBTYPE};

const DISTRIBUTOR_ID: ComponentId = 1;
const TEST_SERVICE_ID: ComponentId = 2;

/// satrs' verification reporter and its handler of service 17, joined by channels as satrs has it.
pub struct Distributor {
    reporter: VerificationReporter,
    telemetry: mpsc::Sender<PacketAsVec>,
    test_queue: mpsc::Sender<EcssTcAndToken>,
    test_service: PusService17TestHandlerDynWithMpsc,
}

impl Distributor {
    /// A distributor whose telemetry leaves by `telemetry`.
    pub fn new(telemetry: mpsc::Sender<PacketAsVec>) -> Self {
        let config = VerificationReporterConfig::new(u11::new(APID), 1, 2, 8);
        let (test_queue, test_receiver) = mpsc::channel();
        let test_service = PusService17TestHandler::new(PusServiceHelper::new(
            TEST_SERVICE_ID,
            test_receiver,
            telemetry.clone(),
            VerificationReporter::new(TEST_SERVICE_ID, &config),
            EcssTcVecCacher::default(),
        ));
        Self { reporter: VerificationReporter::new(DISTRIBUTOR_ID, &config), telemetry, test_queue, test_service }
    }

    /// Handles one telecommand to its end.
    ///
    /// What is no PUS-C telecommand, or has a wrong checksum, gets no report: there is nothing that it could name.
    ///
    /// # Errors
    /// Where the bytes are no telecommand, the clock cannot be read, or a report cannot be sent.
    pub fn handle(&mut self, packet: PacketAsVec) -> Result<(), Box<dyn Error>> {
        let tc = PusTcReader::new(&packet.packet)?;
        let service = tc.service_type_id();
        let time = now()?;
        let token = self.reporter.start_verification(&tc);
        let accepted = self.reporter.acceptance_success(&self.telemetry, token, &time)?;
        if service != PusServiceId::Test as u8 {
            return self.refuse(accepted, INVALID_SERVICE, &time);
        }
        self.test_queue.send(EcssTcAndToken::new(packet, accepted))?;
        loop {
            match self.test_service.poll_and_handle_next_tc(|error| eprintln!("service 17: {error}"), &time)? {
                DirectPusPacketHandlerResult::Handled(HandlingStatus::HandledOne) => {}
                DirectPusPacketHandlerResult::Handled(HandlingStatus::Empty) => return Ok(()),
                DirectPusPacketHandlerResult::SubserviceNotImplemented(_, token)
                | DirectPusPacketHandlerResult::CustomSubservice(_, token) => {
                    self.refuse(token, INVALID_SUBTYPE, &time)?;
                }
            }
        }
    }

    fn refuse(&self, token: VerificationToken<TcStateAccepted>, code: u16, time: &[u8]) -> Result<(), Box<dyn Error>> {
        let code = ResultU16::from(code);
        Ok(self.reporter.start_failure(&self.telemetry, token, FailParams::new_no_fail_data(time, &code))?)
    }
}

fn now() -> Result<[u8; TIMESTAMP_LEN], Box<dyn Error>> {
    let mut stamp = [0; TIMESTAMP_LEN];
    CdsTime::now_with_u16_days()?.write_to_bytes(&mut stamp)?;
    Ok(stamp)
}
