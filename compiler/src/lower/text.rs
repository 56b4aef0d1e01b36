//! The text of a statement as a log shows it: one line, without comments.

/// Folds a piece of source text: white space to one space, comments away, texts in quotes as they are.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut gap = false;
    let mut characters = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = characters.next() {
        if !quoted && c == '#' {
            while characters.next_if(|c| *c != '\n').is_some() {}
            continue;
        }
        if !quoted && c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && !folded.is_empty() {
            folded.push(' ');
        }
        gap = false;
        folded.push(c);
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => folded.extend(characters.next()),
            _ => {}
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn one_line_without_comments() {
        assert_eq!(fold("check  a is 1"), "check a is 1");
        assert_eq!(fold("send x with a = 1,  # the first\r\n    b = 2"), "send x with a = 1, b = 2");
        assert_eq!(fold("note \"a  # \\\" b\"  # c"), "note \"a  # \\\" b\"");
        assert_eq!(fold(""), "");
    }
}
