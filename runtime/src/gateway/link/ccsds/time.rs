//! The time code CDS short: days since 1958 and milliseconds of the day, in UTC.

use spacepackets::time::cds::{CdsBase, CdsTime};

/// Bytes of the code, its P-field included.
pub(super) const CDS_SHORT_BYTES: usize = 7;

const P_FIELD: u8 = 0x40;
const DAY_MS: i64 = 86_400_000;
/// 1958-01-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 4_383;
const MS: i64 = 1_000_000;

/// Nanoseconds of UTC since 1970 (as POSIX counts); `None` where the bytes are no such code.
///
/// A leap second (millisecond 86,400,000 and on) is the second that POSIX counts next.
pub(super) fn read(bytes: &[u8]) -> Option<i64> {
    // spacepackets is asked only about what it reads without a panic: the P-field and the length are looked at before.
    if bytes.len() != CDS_SHORT_BYTES || bytes.first() != Some(&P_FIELD) {
        return None;
    }
    let time = CdsTime::from_bytes_with_u16_days(bytes).ok()?;
    let ms = i64::from(time.ms_of_day());
    if ms >= DAY_MS + 1_000 {
        return None;
    }
    Some(((i64::from(time.ccsds_days_as_u32()) - EPOCH_DAYS) * DAY_MS + ms) * MS)
}

/// The code of an instant, cut to the millisecond; `None` before 1958 and after its last day, in 2137.
pub(super) fn write(ns: i64) -> Option<[u8; CDS_SHORT_BYTES]> {
    let ms = ns.div_euclid(MS);
    let days = u16::try_from(ms.div_euclid(DAY_MS) + EPOCH_DAYS).ok()?;
    let of_day = u32::try_from(ms.rem_euclid(DAY_MS)).ok()?;
    let mut bytes = [0; CDS_SHORT_BYTES];
    CdsTime::new_with_u16_days(days, of_day).write_to_bytes(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_time_reads_as_the_day_it_was_taken() {
        // 0x6252 = 25,170 days since 1958-01-01: 2026-11-30.
        let bytes = [0x40, 0x62, 0x52, 0x04, 0x1b, 0x85, 0x76];
        let ns = read(&bytes).unwrap();
        assert_eq!(ns, 1_795_996_800_000_000_000 + 0x041b_8576 * MS);
        assert_eq!(write(ns), Some(bytes));
        assert_eq!(write(ns + 999_999), Some(bytes));
    }

    #[test]
    fn the_ends_of_the_code_and_one_past_them() {
        let first = -EPOCH_DAYS * DAY_MS * MS;
        assert_eq!(write(first), Some([0x40, 0, 0, 0, 0, 0, 0]));
        assert_eq!(write(first - 1), None);
        let past = (i64::from(u16::MAX) + 1 - EPOCH_DAYS) * DAY_MS * MS;
        assert_eq!(write(past), None);
        assert_eq!(write(past - 1), Some([0x40, 0xff, 0xff, 0x05, 0x26, 0x5b, 0xff]));
        assert_eq!(read(&[0x40, 0, 0, 0x05, 0x26, 0x5f, 0xe7]), Some(first + (DAY_MS + 999) * MS), "a leap second");
        assert_eq!(read(&[0x40, 0, 0, 0x05, 0x26, 0x5f, 0xe8]), None);
    }

    #[test]
    fn other_codes_are_none() {
        for first in (0..=u8::MAX).filter(|first| *first != P_FIELD) {
            assert_eq!(read(&[first, 0, 0, 0, 0, 0, 0]), None);
        }
        assert_eq!(read(&[P_FIELD; 6]), None);
        assert_eq!(read(&[P_FIELD; 8]), None);
        assert_eq!(read(&[]), None);
    }
}
