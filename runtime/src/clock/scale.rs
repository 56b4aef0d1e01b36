//! Between UTC and the scale of the system. Leap seconds are hifitime's table, as IERS announced them.

use hifitime::{Duration, Epoch};
use stellar_vm::time::{Instant, Scale};

const SECOND: i64 = 1_000_000_000;
/// 1900-01-01 to 1970-01-01, by the calendar.
const SECONDS_1900_TO_1970: i128 = 25_567 * 86_400;
/// TAI minus GPS time, for ever.
const TAI_MINUS_GPS: i64 = 19 * SECOND;

/// The instant of UTC (nanoseconds since 1970 as POSIX counts) in `scale`.
#[must_use]
pub fn from_utc(ns: i64, scale: Scale) -> Instant {
    let ahead = match scale {
        Scale::Utc => 0,
        Scale::Tai => leap(ns),
        Scale::Gps => leap(ns) - TAI_MINUS_GPS,
    };
    Instant { ns: ns.saturating_add(ahead), scale }
}

/// The same instant in UTC. A leap second is the second that POSIX counts next.
#[must_use]
pub fn to_utc(at: Instant) -> Instant {
    let tai = match at.scale {
        Scale::Utc => return at,
        Scale::Tai => at.ns,
        Scale::Gps => at.ns.saturating_add(TAI_MINUS_GPS),
    };
    // Less than 37 s behind the true one, so that its leap seconds are those of the true one, or of the second before
    // the last.
    let nearly = tai.saturating_sub(leap(tai));
    Instant { ns: tai.saturating_sub(leap(nearly)), scale: Scale::Utc }
}

/// TAI minus UTC at an instant of UTC, in nanoseconds.
fn leap(utc: i64) -> i64 {
    // hifitime compares the reading of TAI with the table, whose entries are readings of UTC: so it is given the reading
    // of UTC as one of TAI. In whole seconds, for it compares floats.
    let since_1900 = i128::from(utc.div_euclid(SECOND)) + SECONDS_1900_TO_1970;
    let reading = Epoch::from_tai_duration(Duration::from_total_nanoseconds(since_1900 * i128::from(SECOND)));
    i64::from(reading.leap_seconds_iers()) * SECOND
}
