//! Sequence counts of telecommand packets, one series for each application process.

use std::collections::BTreeMap;

use super::request::RequestId;

/// Values of a sequence count.
pub(super) const COUNTS: u16 = 1 << 14;

/// What each application process counts next.
#[derive(Debug, Default)]
pub(super) struct Counts(BTreeMap<u16, u16>);

impl Counts {
    /// Goes on behind a telecommand that was named before, by this process or an earlier one.
    pub(super) fn used(&mut self, request: RequestId) {
        self.0.insert(request.apid(), (request.count() + 1) % COUNTS);
    }

    /// The next count that no telecommand under way has; `None` where all are taken. It is not used up by being asked.
    ///
    /// A count comes again after 16,384 telecommands. If the window of one with the same count is still open then, a
    /// report could not be told to be of one or the other, so that count is passed over.
    pub(super) fn next(&self, apid: u16, under_way: impl Fn(u16) -> bool) -> Option<u16> {
        let first = self.0.get(&apid).copied().unwrap_or_default();
        (0..COUNTS).map(|step| (first + step) % COUNTS).find(|count| !under_way(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(apid: u16, count: u16) -> RequestId {
        let [apid, count] = [0x1800 | apid, 0xc000 | count].map(u16::to_be_bytes);
        RequestId::of(&[apid, count].concat()).unwrap()
    }

    #[test]
    fn each_process_counts_for_itself_and_wraps() {
        let mut counts = Counts::default();
        assert_eq!(counts.next(2, |_| false), Some(0));
        counts.used(request(2, 0));
        counts.used(request(7, COUNTS - 1));
        assert_eq!(counts.next(2, |_| false), Some(1));
        assert_eq!(counts.next(7, |_| false), Some(0));
    }

    #[test]
    fn a_count_under_way_is_passed_over_also_across_the_wrap() {
        let mut counts = Counts::default();
        counts.used(request(2, COUNTS - 2));
        assert_eq!(counts.next(2, |count| [COUNTS - 1, 0].contains(&count)), Some(1));
        assert_eq!(counts.next(2, |_| true), None);
    }
}
