//! Instants, durations and their text.
//!
//! An [`Instant`] is a count of nanoseconds in the one scale of the system, as the runtime's clock gives it; the machine
//! compares and adds, and knows nothing of leap seconds. Written as RFC 3339 with nine decimals and `Z`, ` TAI` or ` GPS`.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// The time scale of the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Coordinated Universal Time, written with `Z`.
    #[default]
    Utc,
    /// International Atomic Time, written with ` TAI`.
    Tai,
    /// Time of the Global Positioning System, written with ` GPS`.
    Gps,
}

/// An instant: nanoseconds since 1970-01-01T00:00:00 as the scale's own calendar reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Instant {
    /// Nanoseconds.
    pub ns: i64,
    /// The scale; one and the same in all instants of a system.
    pub scale: Scale,
}

impl Instant {
    /// This instant plus a duration in nanoseconds, saturating at the ends of the representable range.
    #[must_use]
    pub fn after(self, ns: i64) -> Self {
        Self { ns: self.ns.saturating_add(ns), scale: self.scale }
    }

    /// Nanoseconds from `earlier` to this one, saturating.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        self.ns.saturating_sub(earlier.ns)
    }
}

const DAY: i64 = 86_400_000_000_000;

/// Days since 1970-01-01 to a civil date (year, month, day), after Howard Hinnant's `civil_from_days`.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

/// A civil date to days since 1970-01-01; the inverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = if month > 2 { month - 3 } else { month + 9 };
    let doy = (153 * mp + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.ns.div_euclid(DAY));
        let rest = self.ns.rem_euclid(DAY);
        let (seconds, nanos) = (rest / 1_000_000_000, rest % 1_000_000_000);
        let (h, m, s) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let suffix = match self.scale {
            Scale::Utc => "Z",
            Scale::Tai => " TAI",
            Scale::Gps => " GPS",
        };
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{nanos:09}{suffix}")
    }
}

/// Why a text is no instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAnInstant(pub String);

impl fmt::Display for NotAnInstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no time: write it as `2026-10-02T10:15:00Z`", self.0)
    }
}

impl core::error::Error for NotAnInstant {}

impl core::str::FromStr for Instant {
    type Err = NotAnInstant;

    /// Reads RFC 3339 with `Z`, a numeric offset, ` TAI` or ` GPS`, and up to nine decimals.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        written(text).or_else(|| parse(text)).ok_or_else(|| NotAnInstant(text.into()))
    }
}

/// Two digits.
fn pair(tens: u8, ones: u8) -> Option<i64> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| i64::from((tens - b'0') * 10 + (ones - b'0')))
}

/// The shortest way for what [`Instant`]'s own text is in UTC: thirty bytes, nine decimals. `None` for any other text.
fn written(text: &str) -> Option<Instant> {
    let [
        y1,
        y2,
        y3,
        y4,
        b'-',
        mo1,
        mo2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        mi1,
        mi2,
        b':',
        s1,
        s2,
        b'.',
        decimals @ ..,
        b'Z',
    ] = text.as_bytes()
    else {
        return None;
    };
    let [n1, n2, n3, n4, n5, n6, n7, n8, n9] = *decimals else { return None };
    let (year, month, day) = (pair(*y1, *y2)? * 100 + pair(*y3, *y4)?, pair(*mo1, *mo2)?, pair(*d1, *d2)?);
    let (h, m, s) = (pair(*h1, *h2)?, pair(*mi1, *mi2)?, pair(*s1, *s2)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) || h > 23 || m > 59 || s > 59 {
        return None;
    }
    let high = pair(n1, n2)? * 10_000_000 + pair(n3, n4)? * 100_000;
    let nanos = high + pair(n5, n6)? * 1_000 + pair(n7, n8)? * 10 + pair(b'0', n9)?;
    let seconds = days_from_civil(year, month, day) * 86_400 + h * 3_600 + m * 60 + s;
    Some(Instant { ns: seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?, scale: Scale::Utc })
}

fn digits(bytes: &[u8]) -> Option<i64> {
    let mut value = 0_i64;
    for byte in bytes {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn parse(text: &str) -> Option<Instant> {
    let b = text.as_bytes();
    let number = |from: usize, to: usize| b.get(from..to).and_then(digits);
    let is = |at: usize, wanted: &[u8]| b.get(at).is_some_and(|c| wanted.contains(c));
    if !(is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (h, m, s) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) || h > 23 || m > 59 || s > 59 {
        return None;
    }
    let mut at = 19;
    let mut nanos = 0;
    if is(at, b".") {
        let from = at + 1;
        at = from;
        while is(at, b"0123456789") {
            at += 1;
        }
        let count = at - from;
        if count == 0 || count > 9 {
            return None;
        }
        nanos = number(from, at)? * 10_i64.pow(u32::try_from(9 - count).ok()?);
    }
    let (offset, scale) = zone(b.get(at..)?)?;
    let seconds = days_from_civil(year, month, day) * 86_400 + h * 3_600 + m * 60 + s - offset;
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?;
    Some(Instant { ns, scale })
}

/// The offset in seconds and the scale of what stands behind the seconds.
fn zone(b: &[u8]) -> Option<(i64, Scale)> {
    match b {
        b"Z" | b"z" => Some((0, Scale::Utc)),
        b" TAI" => Some((0, Scale::Tai)),
        b" GPS" => Some((0, Scale::Gps)),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (h, m) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            let seconds = h * 3_600 + m * 60;
            (h <= 23 && m <= 59).then_some((if *sign == b'-' { -seconds } else { seconds }, Scale::Utc))
        }
        _ => None,
    }
}

impl Serialize for Instant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Instant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time such as `2026-10-02T10:15:00Z`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Instant, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// A duration as the language writes it, exact: the largest unit that needs no decimals, else milliseconds with them
/// (`1500 ms`, `3 min`, `0.25 ms`).
#[must_use]
pub fn duration_text(ns: i64) -> String {
    const UNITS: [(&str, i64); 5] =
        [("d", DAY), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", MS)];
    const MS: i64 = 1_000_000;
    if ns == 0 {
        return String::from("0 s");
    }
    if let Some((unit, size)) = UNITS.into_iter().find(|(_, size)| ns % size == 0) {
        return alloc::format!("{} {unit}", ns / size);
    }
    let sign = if ns < 0 { "-" } else { "" };
    let (whole, rest) = (ns.unsigned_abs() / MS.unsigned_abs(), ns.unsigned_abs() % MS.unsigned_abs());
    let decimals = alloc::format!("{rest:06}");
    alloc::format!("{sign}{whole}.{} ms", decimals.trim_end_matches('0'))
}

/// Reads a duration as the language and [`duration_text`] write it: a decimal number and `ns`, `us`, `ms`, `s`, `min`,
/// `h` or `d`, with or without a space; `None` where it is none, is not a whole number of nanoseconds or too long.
#[must_use]
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let end = text.bytes().position(|b| !(b.is_ascii_digit() || b == b'.' || b == b'_'))?;
    let (number, unit) = text.split_at_checked(end)?;
    let size: i64 = match unit.strip_prefix(' ').unwrap_or(unit) {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => DAY,
        _ => return None,
    };
    let (whole, decimals) = number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let mut ns = decimal(whole)?.0.checked_mul(i128::from(size))?;
    if let Some(decimals) = decimals {
        let (value, count) = decimal(decimals)?;
        let scaled = value.checked_mul(i128::from(size))?;
        let unit = 10_i128.checked_pow(count)?;
        if scaled % unit != 0 {
            return None;
        }
        ns = ns.checked_add(scaled / unit)?;
    }
    i64::try_from(if negative { -ns } else { ns }).ok()
}

/// A run of digits, `_` between them left out: its value and how many there are.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (mut value, mut count) = (0_i128, 0_u32);
    for byte in text.bytes().filter(|byte| *byte != b'_') {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
        count += 1;
    }
    (count > 0).then_some((value, count))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn read(text: &str) -> Option<i64> {
        text.parse::<Instant>().ok().map(|at| at.ns)
    }

    #[test]
    fn an_instant_is_read_as_it_is_written_in_each_scale() {
        for ns in [0, 1, 1_790_936_100_123_456_789, -1, 4_102_444_799_999_999_999] {
            for scale in [Scale::Utc, Scale::Tai, Scale::Gps] {
                let at = Instant { ns, scale };
                assert_eq!(at.to_string().parse(), Ok(at), "{at}");
                assert_eq!(written(&at.to_string()).is_some(), scale == Scale::Utc, "{at}");
            }
        }
        assert_eq!(
            Instant { ns: 1_790_936_100_000_000_001, scale: Scale::Utc }.to_string(),
            "2026-10-02T10:15:00.000000001Z"
        );
    }

    #[test]
    fn both_ways_of_reading_agree_on_what_is_none() {
        for text in [
            "2026-02-29T10:15:00.000000000Z",
            "2026-13-01T10:15:00.000000000Z",
            "2026-00-01T10:15:00.000000000Z",
            "2026-01-00T10:15:00.000000000Z",
            "2026-01-01T24:15:00.000000000Z",
            "2026-01-01T10:60:00.000000000Z",
            "2026-01-01T10:15:60.000000000Z",
            "2026-01-01T10:15:0x.000000000Z",
            "2026-01-01T10:15:00.00000000xZ",
            "2026-01-01T10:15:00",
        ] {
            assert_eq!((written(text), parse(text), read(text)), (None, None, None), "{text}");
        }
        assert!(read("2024-02-29T10:15:00.000000000Z").is_some());
        assert_eq!(read("2026-10-02T12:15:00.5+02:00"), read("2026-10-02T10:15:00.500000000Z"));
    }

    #[test]
    fn a_duration_is_exact_or_none() {
        let cases = [
            ("200 ms", 200_000_000),
            ("1.5s", 1_500_000_000),
            ("3 min", 180_000_000_000),
            ("0.25 ms", 250_000),
            ("-2 h", -7_200_000_000_000),
            ("1_000 ns", 1_000),
            ("365 d", 31_536_000_000_000_000),
        ];
        for (text, ns) in cases {
            assert_eq!(parse_duration(text), Some(ns), "{text}");
            assert_eq!(parse_duration(&duration_text(ns)), Some(ns), "{}", duration_text(ns));
        }
        for text in
            ["", "5", "s", "5 m", "0.0000000001 s", "1..5 s", ".5 s", "5. s", "99999999999999999999 d", "5  s", "1e3 s"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }
}
