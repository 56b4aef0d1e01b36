//! Random changes of a text: deleted, inserted, doubled and swapped lines, words, characters and bytes, indentation made
//! deeper, shallower or odd, ends of lines changed, and pieces of other texts put in.

use stellar_vm::adversary::Dice;

/// Characters that are put in.
const ODD: [&str; 14] =
    ["\u{0}", "\t", "\r", "\r\n", "\u{feff}", "é", "\u{1F600}", "\u{202e}", "\"", "\\", "(", "]", "#", "\u{2028}"];

/// How many changes one text gets, at most.
const CHANGES: u64 = 8;

/// A text with one to eight changes.
pub fn changed(seed: &[u8], others: &[(String, Vec<u8>)], words: &[&str], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.below(CHANGES) {
        bytes = match dice.below(4) {
            0 => by_bytes(bytes, dice),
            _ => match String::from_utf8(bytes) {
                Ok(text) => by_text(&text, others, words, dice).into_bytes(),
                Err(error) => by_bytes(error.into_bytes(), dice),
            },
        };
    }
    bytes
}

fn place(length: usize, dice: &mut Dice) -> usize {
    dice.below(length as u64 + 1) as usize
}

fn by_bytes(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let at = place(bytes.len(), dice);
    let end = (at + 1 + place(6, dice)).min(bytes.len());
    match dice.below(4) {
        0 => drop(bytes.drain(at..end)),
        1 => bytes.insert(at, dice.roll() as u8),
        2 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
        _ => bytes.truncate(at),
    }
    bytes
}

fn by_text(text: &str, others: &[(String, Vec<u8>)], words: &[&str], dice: &mut Dice) -> String {
    match dice.below(3) {
        0 => by_lines(text, others, dice),
        1 => by_words(text, words, dice),
        _ => by_characters(text, words, dice),
    }
}

fn by_lines(text: &str, others: &[(String, Vec<u8>)], dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    let any = |dice: &mut Dice, count: usize| dice.below(count as u64) as usize;
    let at = any(dice, lines.len());
    let other = any(dice, lines.len());
    match dice.below(9) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 => lines.swap(at, other),
        3 => lines[at].insert_str(0, dice.pick(&[" ", "  ", "    ", "\t"])),
        4 => lines[at] = lines[at].trim_start_matches(' ').to_owned(),
        5 => lines[at] = lines[at].strip_prefix("  ").unwrap_or(&lines[at]).to_owned(),
        6 => lines[at] = lines[at].replace('\n', dice.pick(&["\r\n", "", ",\n", " (\n", "\n\n"])),
        // A block of lines, to another place.
        7 => {
            let end = (at + 1 + any(dice, 8)).min(lines.len());
            let block: Vec<String> = lines.drain(at..end).collect();
            let to = place(lines.len(), dice);
            lines.splice(to..to, block);
        }
        _ => {
            let Some((_, bytes)) = dice.choose(others) else { return text.to_owned() };
            let theirs = String::from_utf8_lossy(bytes).into_owned();
            let theirs: Vec<String> = theirs.split_inclusive('\n').map(str::to_owned).collect();
            let from = any(dice, theirs.len());
            let few = theirs.into_iter().skip(from).take(1 + any(dice, 6));
            lines.splice(at..at, few.collect::<Vec<_>>());
        }
    }
    lines.concat()
}

/// The pieces of a text: words, runs of spaces, every other character alone.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        ' ' => 2,
        _ => 0,
    };
    let mut pieces = Vec::new();
    let (mut from, mut before) = (0, 3);
    for (at, c) in text.char_indices() {
        if at > 0 && (kind(c) != before || before == 0) {
            pieces.push(&text[from..at]);
            from = at;
        }
        before = kind(c);
    }
    pieces.push(&text[from..]);
    pieces
}

fn by_words(text: &str, words: &[&str], dice: &mut Dice) -> String {
    let mut pieces = pieces(text);
    let at = dice.below(pieces.len() as u64) as usize;
    let other = dice.below(pieces.len() as u64) as usize;
    match dice.below(5) {
        0 => drop(pieces.remove(at)),
        1 => pieces.insert(other, pieces[at]),
        2 => pieces.swap(at, other),
        3 => pieces[at] = pieces[other],
        _ => pieces.insert(at, dice.choose(words).copied().unwrap_or("x")),
    }
    pieces.concat()
}

fn by_characters(text: &str, words: &[&str], dice: &mut Dice) -> String {
    let mut text = text.to_owned();
    let at = text.floor_char_boundary(place(text.len(), dice));
    match dice.below(4) {
        0 => text.insert_str(at, dice.pick(&ODD)),
        1 => text.insert_str(at, dice.choose(words).copied().unwrap_or("x")),
        2 => {
            let end = text.ceil_char_boundary((at + 1 + place(10, dice)).min(text.len()));
            text.replace_range(at..end, "");
        }
        _ => {
            // A number at its limits.
            let numbers =
                ["0", "-1", "9223372036854775807", "18446744073709551616", "1e999", "0.0000000001", "1_0", "0x"];
            text.insert_str(at, dice.pick(&numbers));
        }
    }
    text
}
