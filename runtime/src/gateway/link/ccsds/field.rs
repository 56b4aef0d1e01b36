//! One field as bits on the link: reading and writing by its [`Encoding`], before any type of the catalogue.

use std::sync::Arc;

use stellar_vm::catalogue::{Encoding, Endian};

use super::{bits, time};

/// What a field holds, before calibration and type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    /// A whole number, signed or not.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// Nanoseconds of UTC since 1970.
    Time(i64),
}

impl Raw {
    /// The number that it is.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Text(_) | Self::Time(_) => None,
        }
    }
}

/// Why a field cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The packet ends before it.
    Short,
    /// Its bits are none of its encoding.
    Bits,
}

/// Why a value cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unwritable {
    /// The field has too few bits.
    #[error("it does not fit into {0}")]
    TooWide(FieldName),
    /// The value is of another kind than the field, or has a fraction where the field counts.
    #[error("it cannot be written as {0}")]
    Kind(FieldName),
}

/// An encoding in words: `an unsigned field of 12 bits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FieldName(Encoding);

impl std::fmt::Display for FieldName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Encoding::Unsigned(width, _) => write!(f, "an unsigned field of {width} bits"),
            Encoding::Signed(width, _) => write!(f, "a signed field of {width} bits"),
            Encoding::Float(width, _) => write!(f, "a float of {width} bits"),
            Encoding::Text(bytes) => write!(f, "a text of {bytes} bytes"),
            Encoding::CdsShort => write!(f, "a CDS short time"),
        }
    }
}

/// Bits that the field takes; `None` for an encoding that no catalogue may have.
pub(super) fn width(encoding: Encoding) -> Option<u64> {
    match encoding {
        Encoding::Unsigned(width, endian) | Encoding::Signed(width, endian) => {
            let whole = endian == Endian::Big || width % 8 == 0;
            ((1..=bits::WIDEST).contains(&width) && whole).then_some(u64::from(width))
        }
        Encoding::Float(width, _) => matches!(width, 32 | 64).then_some(u64::from(width)),
        Encoding::Text(bytes) => (bytes > 0).then_some(u64::from(bytes) * 8),
        Encoding::CdsShort => Some(time::CDS_SHORT_BYTES as u64 * 8),
    }
}

/// Reads the field at bit `offset` of `data`.
pub(super) fn read(data: &[u8], offset: u64, encoding: Encoding) -> Result<Raw, Unreadable> {
    match encoding {
        Encoding::Unsigned(width, endian) => Ok(Raw::Int(i128::from(ordered(data, offset, width, endian)?))),
        Encoding::Signed(width, endian) => {
            let unused = u32::from(bits::WIDEST.saturating_sub(width));
            let bits = ordered(data, offset, width, endian)?;
            let extended = bits.checked_shl(unused).ok_or(Unreadable::Bits)?.cast_signed().checked_shr(unused);
            Ok(Raw::Int(i128::from(extended.ok_or(Unreadable::Bits)?)))
        }
        Encoding::Float(width, endian) => {
            let bits = ordered(data, offset, width, endian)?;
            match width {
                32 => Ok(Raw::Float(f64::from(f32::from_bits(bits as u32)))),
                64 => Ok(Raw::Float(f64::from_bits(bits))),
                _ => Err(Unreadable::Bits),
            }
        }
        Encoding::Text(length) => {
            let bytes = string(data, offset, usize::from(length))?;
            let text = std::str::from_utf8(&bytes).map_err(|_| Unreadable::Bits)?;
            Ok(Raw::Text(text.trim_end_matches('\0').into()))
        }
        Encoding::CdsShort => {
            let bytes = string(data, offset, time::CDS_SHORT_BYTES)?;
            time::read(&bytes).map(Raw::Time).ok_or(Unreadable::Bits)
        }
    }
}

fn string(data: &[u8], offset: u64, length: usize) -> Result<Vec<u8>, Unreadable> {
    (0..length as u64)
        .map(|place| bits::read(data, offset.checked_add(place * 8)?, 8).map(|byte| byte as u8))
        .collect::<Option<_>>()
        .ok_or(Unreadable::Short)
}

fn ordered(data: &[u8], offset: u64, width: u8, endian: Endian) -> Result<u64, Unreadable> {
    let bits = bits::read(data, offset, width).ok_or(Unreadable::Short)?;
    Ok(reordered(bits, width, endian))
}

/// Turns the bytes of a field round where the least significant comes first. It is its own inverse.
fn reordered(bits: u64, width: u8, endian: Endian) -> u64 {
    match endian {
        Endian::Big => bits,
        Endian::Little => bits.swap_bytes() >> (bits::WIDEST.saturating_sub(width) % bits::WIDEST),
    }
}

/// Appends a value to `writer`.
pub(super) fn write(writer: &mut bits::Writer, encoding: Encoding, value: &Raw) -> Result<(), Unwritable> {
    let kind = || Unwritable::Kind(FieldName(encoding));
    let too_wide = || Unwritable::TooWide(FieldName(encoding));
    match (encoding, &whole(encoding, value)) {
        (Encoding::Unsigned(width, endian), Raw::Int(number)) => {
            let bits = u64::try_from(*number).map_err(|_| too_wide())?;
            if width < bits::WIDEST && bits >> width != 0 {
                return Err(too_wide());
            }
            writer.push(reordered(bits, width, endian), width);
        }
        (Encoding::Signed(width, endian), Raw::Int(number)) => {
            let limit = 1_i128 << width.saturating_sub(1).min(63);
            if *number < -limit || *number >= limit {
                return Err(too_wide());
            }
            let bits = (*number as i64).cast_unsigned() & (u64::MAX >> bits::WIDEST.saturating_sub(width).min(63));
            writer.push(reordered(bits, width, endian), width);
        }
        (Encoding::Float(width, endian), Raw::Int(_) | Raw::Float(_)) => {
            let number = value.number().ok_or_else(kind)?;
            let bits = match width {
                32 if number.is_finite() && !(number as f32).is_finite() => return Err(too_wide()),
                32 => u64::from((number as f32).to_bits()),
                _ => number.to_bits(),
            };
            writer.push(reordered(bits, width, endian), width);
        }
        (Encoding::Text(length), Raw::Text(text)) => {
            let padding = usize::from(length).checked_sub(text.len()).ok_or_else(too_wide)?;
            for byte in text.bytes().chain(std::iter::repeat_n(0, padding)) {
                writer.push(u64::from(byte), 8);
            }
        }
        (Encoding::CdsShort, Raw::Time(ns)) => {
            for byte in time::write(*ns).ok_or_else(too_wide)? {
                writer.push(u64::from(byte), 8);
            }
        }
        _ => return Err(kind()),
    }
    Ok(())
}

/// A float without fraction is a whole number where the field holds one.
fn whole(encoding: Encoding, value: &Raw) -> Raw {
    match (encoding, value) {
        (Encoding::Unsigned(..) | Encoding::Signed(..), Raw::Float(number)) if number.fract() == 0.0 => {
            Raw::Int(*number as i128)
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(encoding: Encoding, value: &Raw) -> Result<Vec<u8>, Unwritable> {
        let mut writer = bits::Writer::default();
        write(&mut writer, encoding, value)?;
        Ok(writer.into_bytes())
    }

    #[test]
    fn each_encoding_has_its_bytes() {
        for (encoding, value, bytes) in [
            (Encoding::Unsigned(16, Endian::Big), Raw::Int(0x1234), vec![0x12, 0x34]),
            (Encoding::Unsigned(16, Endian::Little), Raw::Int(0x1234), vec![0x34, 0x12]),
            (Encoding::Unsigned(24, Endian::Little), Raw::Int(0x12_3456), vec![0x56, 0x34, 0x12]),
            (Encoding::Signed(16, Endian::Big), Raw::Int(-2), vec![0xff, 0xfe]),
            (Encoding::Signed(16, Endian::Little), Raw::Int(-2), vec![0xfe, 0xff]),
            (Encoding::Signed(12, Endian::Big), Raw::Int(-1), vec![0xff, 0xf0]),
            (Encoding::Float(32, Endian::Big), Raw::Float(1.5), vec![0x3f, 0xc0, 0, 0]),
            (Encoding::Float(32, Endian::Little), Raw::Float(1.5), vec![0, 0, 0xc0, 0x3f]),
            (Encoding::Float(64, Endian::Big), Raw::Float(-2.0), vec![0xc0, 0, 0, 0, 0, 0, 0, 0]),
            (Encoding::Text(4), Raw::Text("é1".into()), vec![0xc3, 0xa9, 0x31, 0]),
            (Encoding::CdsShort, Raw::Time(0), vec![0x40, 0x11, 0x1f, 0, 0, 0, 0]),
        ] {
            assert_eq!(written(encoding, &value), Ok(bytes.clone()), "{encoding:?}");
            assert_eq!(read(&bytes, 0, encoding), Ok(value), "{encoding:?}");
        }
    }

    #[test]
    fn the_ends_of_a_field_and_one_past_them() {
        for (encoding, last, first) in [
            (Encoding::Unsigned(8, Endian::Big), 255, 0),
            (Encoding::Unsigned(64, Endian::Little), i128::from(u64::MAX), 0),
            (Encoding::Signed(8, Endian::Big), 127, -128),
            (Encoding::Signed(1, Endian::Big), 0, -1),
            (Encoding::Signed(64, Endian::Big), i128::from(i64::MAX), i128::from(i64::MIN)),
        ] {
            for value in [last, first] {
                let bytes = written(encoding, &Raw::Int(value)).unwrap();
                assert_eq!(read(&bytes, 0, encoding), Ok(Raw::Int(value)), "{encoding:?}");
            }
            for value in [last + 1, first - 1] {
                assert_eq!(written(encoding, &Raw::Int(value)), Err(Unwritable::TooWide(FieldName(encoding))));
            }
        }
        let text = Encoding::Text(2);
        assert_eq!(written(text, &Raw::Text("abc".into())), Err(Unwritable::TooWide(FieldName(text))));
        let float = Encoding::Float(32, Endian::Big);
        assert_eq!(written(float, &Raw::Float(1e39)), Err(Unwritable::TooWide(FieldName(float))));
        assert!(written(float, &Raw::Float(f64::INFINITY)).is_ok());
    }

    #[test]
    fn a_value_of_another_kind_is_refused_and_bad_bits_are_told_from_missing_ones() {
        let text = Encoding::Text(2);
        assert_eq!(written(text, &Raw::Int(1)), Err(Unwritable::Kind(FieldName(text))));
        let count = Encoding::Unsigned(8, Endian::Big);
        assert_eq!(written(count, &Raw::Float(5.0)), Ok(vec![5]));
        assert_eq!(written(count, &Raw::Float(5.5)), Err(Unwritable::Kind(FieldName(count))));
        assert_eq!(written(count, &Raw::Float(f64::NAN)), Err(Unwritable::Kind(FieldName(count))));
        assert_eq!(written(count, &Raw::Float(1e30)), Err(Unwritable::TooWide(FieldName(count))));
        assert_eq!(read(&[0xff, 0xff], 0, text), Err(Unreadable::Bits));
        assert_eq!(read(&[0x41], 0, text), Err(Unreadable::Short));
        assert_eq!(read(&[0; 7], 0, Encoding::CdsShort), Err(Unreadable::Bits));
    }

    #[test]
    fn encodings_that_no_catalogue_may_have_have_no_width() {
        for encoding in [
            Encoding::Unsigned(0, Endian::Big),
            Encoding::Unsigned(65, Endian::Big),
            Encoding::Unsigned(12, Endian::Little),
            Encoding::Signed(7, Endian::Little),
            Encoding::Float(16, Endian::Big),
            Encoding::Text(0),
        ] {
            assert_eq!(width(encoding), None, "{encoding:?}");
        }
    }

    fn any_encoding() -> impl Strategy<Value = Encoding> {
        let endian = || prop_oneof![Just(Endian::Big), Just(Endian::Little)];
        prop_oneof![
            (any::<u8>(), endian()).prop_map(|(width, endian)| Encoding::Unsigned(width, endian)),
            (any::<u8>(), endian()).prop_map(|(width, endian)| Encoding::Signed(width, endian)),
            (any::<u8>(), endian()).prop_map(|(width, endian)| Encoding::Float(width, endian)),
            (0_u16..40).prop_map(Encoding::Text),
            Just(Encoding::CdsShort),
        ]
    }

    proptest! {
        #[test]
        fn no_bytes_and_no_encoding_panic(
            data in prop::collection::vec(any::<u8>(), 0..40), offset in any::<u64>(), near in 0_u64..320,
            encoding in any_encoding(), number in any::<i128>(), float in any::<f64>(),
        ) {
            for offset in [offset, near] {
                drop(read(&data, offset, encoding));
            }
            for value in [Raw::Int(number), Raw::Float(float), Raw::Time(number as i64)] {
                drop(written(encoding, &value));
            }
        }

        #[test]
        fn what_is_read_is_written_back(data in prop::collection::vec(any::<u8>(), 0..40), encoding in any_encoding()) {
            if let (Some(width), Ok(raw)) = (width(encoding), read(&data, 0, encoding)) {
                let bytes = written(encoding, &raw).unwrap();
                match &raw {
                    // A NaN may change its payload.
                    Raw::Float(float) if float.is_nan() => {}
                    _ => prop_assert_eq!(read(&bytes, 0, encoding), Ok(raw)),
                }
                prop_assert_eq!(bytes.len() as u64, width.div_ceil(8));
            }
        }
    }
}
