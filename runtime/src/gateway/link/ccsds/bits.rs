//! Bit fields in a string of bytes, most significant bit first. Nothing here knows what a field means.

/// The widest field, in bits.
pub(super) const WIDEST: u8 = 64;

/// Reads the `width` bits (1 to 64) at bit `offset`; `None` where they reach past the end.
pub(super) fn read(data: &[u8], offset: u64, width: u8) -> Option<u64> {
    if width == 0 || width > WIDEST {
        return None;
    }
    let end = offset.checked_add(u64::from(width))?;
    let first = usize::try_from(offset / 8).ok()?;
    let last = usize::try_from(end.div_ceil(8)).ok()?;
    // At most nine bytes, 72 bits.
    let bits = data.get(first..last)?.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let behind = (8 - end % 8) % 8;
    Some((bits >> behind) as u64 & (u64::MAX >> (WIDEST - width)))
}

/// Writes fields one behind the other; the last byte is filled up with zeros.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Bits of the last byte that no field has taken.
    free: u8,
}

impl Writer {
    /// Appends the lowest `width` bits of `value`.
    pub(super) fn push(&mut self, value: u64, width: u8) {
        for place in (0..width.min(WIDEST)).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> place & 1) as u8) << self.free;
            }
        }
    }

    /// The bytes written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_that_cross_bytes_are_read_most_significant_bit_first() {
        let data = [0b1010_0101, 0b1100_0011];
        assert_eq!(read(&data, 0, 4), Some(0b1010));
        assert_eq!(read(&data, 6, 4), Some(0b0111));
        assert_eq!(read(&data, 0, 16), Some(0xa5c3));
        assert_eq!(read(&data, 15, 1), Some(1));
    }

    #[test]
    fn what_reaches_past_the_end_or_has_no_width_is_nothing() {
        let data = [0xff; 9];
        assert_eq!(read(&data, 8, 64), Some(u64::MAX));
        assert_eq!(read(&data, 1, 64), Some(u64::MAX));
        assert_eq!(read(&data, 9, 64), None);
        assert_eq!(read(&data, 72, 1), None);
        assert_eq!(read(&data, u64::MAX, 1), None);
        assert_eq!(read(&data, 0, 0), None);
        assert_eq!(read(&data, 0, 65), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(fields in prop::collection::vec((any::<u64>(), 1_u8..=64), 0..20)) {
            let mut writer = Writer::default();
            for (value, width) in &fields {
                writer.push(*value, *width);
            }
            let bytes = writer.into_bytes();
            let mut offset = 0;
            for (value, width) in fields {
                prop_assert_eq!(read(&bytes, offset, width), Some(value & (u64::MAX >> (64 - width))));
                offset += u64::from(width);
            }
            prop_assert_eq!(bytes.len() as u64, offset.div_ceil(8));
        }
    }
}
