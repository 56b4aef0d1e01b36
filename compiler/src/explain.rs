//! The pages of the diagnostics, embedded for `stellar explain`. They are the files under `docs/diagnostics/`.

static PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The page of a code, as Markdown; `None` where there is no such code.
#[must_use]
pub fn explain(code: &str) -> Option<&'static str> {
    let at = PAGES.binary_search_by_key(&code, |(name, _)| *name).ok()?;
    PAGES.get(at).map(|(_, page)| *page)
}

/// Every code that has a page, sorted.
pub fn explained() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}
