//! Diagnostics for a reader: miette's graphical report.
//!
//! miette counts columns in bytes, panics at a span past the end and draws nothing for an empty span at the end of a
//! file; what it is given here is such that none of this shows. It is given no link: it would write that behind the code.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use super::{Diagnostic, Severity};
use crate::source::Sources;

mod shown;

use shown::Shown;

/// How a report is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// With colours.
    pub color: bool,
    /// Characters in a line; messages are not wrapped, labels are placed by it.
    pub width: usize,
}

impl Default for Look {
    /// Without colours, 80 wide: what is no terminal.
    fn default() -> Self {
        Self { color: false, width: 80 }
    }
}

/// The report of one finding, several lines, the last one ended.
#[must_use]
pub fn human(diagnostic: &Diagnostic, sources: &Sources, look: Look) -> String {
    let theme = if look.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .with_wrap_lines(false)
        .with_width(look.width)
        .tab_width(4)
        .without_syntax_highlighting();
    let mut out = String::new();
    let report = Report::new(diagnostic, sources);
    if handler.render_report(&mut out, &report).is_err() {
        // Only a span that does not fit its text comes here, and `Shown` lets none through.
        out = format!("{}\n\n  × {}\n", diagnostic.code.name, diagnostic.message);
    }
    out
}

/// A finding with its text, as miette asks for it.
#[derive(Debug)]
struct Report<'a> {
    diagnostic: &'a Diagnostic,
    shown: Option<Shown<'a>>,
    help: Option<String>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Self {
        let file = diagnostic.place().map(|place| place.file);
        let shown = file.and_then(|id| Some(Shown::new(diagnostic, id, sources.get(id)?)));
        let mut help = diagnostic.help.clone();
        // A report shows one file; what a label says of another one is told in words.
        for label in diagnostic.labels.iter().filter(|label| Some(label.place.file) != file) {
            let text = label.text.as_deref().unwrap_or("see");
            let line = format!("{text}: {}", sources.location(label.place));
            help = Some(help.map_or_else(|| line.clone(), |help| format!("{help}\n{line}")));
        }
        Self { diagnostic, shown, help }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code.name))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.shown.as_ref().map(|shown| shown as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let shown = self.shown.as_ref()?;
        Some(Box::new(shown.labels(self.diagnostic)))
    }
}

#[cfg(test)]
mod tests {
    use stellar_grammar::Span;

    use super::*;
    use crate::{
        diagnostics::Code,
        source::{Origin, Place},
    };

    static NOT_ALLOWED: Code = Code::error("procedure::retry-not-allowed", "a retry on what cannot be retried");

    fn report(text: &str, from: usize, to: usize) -> String {
        let mut sources = Sources::default();
        let file = sources.add("test.proc", text.as_bytes(), Origin::Project);
        let diagnostic = Diagnostic::new(&NOT_ALLOWED, Place::new(file, Span::new(from, to)), "no");
        human(&diagnostic, &sources, Look::default())
    }

    #[test]
    fn the_report_of_the_specification_to_the_character() {
        let mut sources = Sources::default();
        let text = "step \"Standby\" retry 2 times\n  uses sat: platform-v3\n  send standby to sat.tcu[1]\n";
        let file = sources.add("test.proc", text.as_bytes(), Origin::Project);
        let diagnostic = Diagnostic::new(
            &NOT_ALLOWED,
            Place::new(file, Span::new(15, 28)),
            "this step cannot be retried: it sends telecommands that change the on-board state",
        );
        let shown = human(&diagnostic, &sources, Look::default());
        let first: Vec<&str> = shown.lines().take(6).collect();
        let wanted = [
            "procedure::retry-not-allowed",
            "",
            "  × this step cannot be retried: it sends telecommands that change the on-board state",
            "   ╭─[test.proc:1:16]",
            " 1 │ step \"Standby\" retry 2 times",
            "   ·                ─────────────",
        ];
        assert_eq!(first, wanted);
    }

    #[test]
    fn columns_are_characters() {
        assert!(report("é = é\n", 5, 7).contains("[test.proc:1:5]"));
        assert!(report("\u{feff}ab\n", 4, 5).contains("[test.proc:1:2]"));
        assert!(report("a\r\nbc\r\n", 4, 5).contains("[test.proc:2:2]"));
    }

    #[test]
    fn any_span_is_drawn() {
        for text in ["", "a", "a\n", "a\n\n\n", "\u{feff}", "é\n", "a\r\nb\r\n"] {
            for from in 0..=text.len() + 2 {
                for to in from..=text.len() + 2 {
                    let shown = report(text, from, to);
                    assert!(
                        shown.contains("test.proc:") || text.trim_end().len() <= 3,
                        "{text:?} {from} {to}\n{shown}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_line_of_any_length_is_drawn() {
        let long = "é".repeat(100_000);
        let text = format!("a\n{long}bc{long}\nd\n");
        let at = 2 + long.len();
        let shown = report(&text, at, at + 2);
        assert!(shown.contains("[test.proc:2:100001]"), "{shown}");
        assert!(shown.contains("ébcé") && shown.contains("──") && shown.contains('…'), "{shown}");
        assert!(shown.len() < 2_000);
        for (from, to) in [(2, text.len() - 3), (0, text.len()), (at, text.len() - 4), (text.len() - 4, text.len())] {
            assert!(report(&text, from, to).contains("test.proc:"));
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let shown = report("ab\u{1b}[31mcd\n", 6, 9);
        assert!(!shown.contains('\u{1b}') && shown.contains("[test.proc:1:7]"), "{shown}");
    }

    #[test]
    fn labels_far_apart_are_two_pieces() {
        let text = "line\n".repeat(50);
        let mut sources = Sources::default();
        let file = sources.add("a.proc", text.as_bytes(), Origin::Project);
        let place = |from| Place::new(file, Span::new(from, from + 4));
        let diagnostic = Diagnostic::new(&NOT_ALLOWED, place(200), "no").label(place(5), "first here");
        let shown = human(&diagnostic, &sources, Look::default());
        assert!(shown.contains("[a.proc:2:1]") && shown.contains("[a.proc:41:1]"), "{shown}");
        assert!(shown.lines().count() < 20, "{shown}");
    }

    #[test]
    fn a_place_in_another_file_is_told_in_words() {
        let mut sources = Sources::default();
        let a = sources.add("a.proc", b"step \"A\"\n", Origin::Project);
        let b = sources.add("b.proc", b"\nstep \"A\"\n", Origin::Project);
        let place = |file, from| Place::new(file, Span::new(from, from + 3));
        let diagnostic =
            Diagnostic::new(&NOT_ALLOWED, place(a, 5), "no").label(place(b, 6), "first here").help("rename");
        assert!(
            human(&diagnostic, &sources, Look::default()).ends_with("  help: rename\n        first here: b.proc:2:6\n")
        );
    }
}
