//! What holds for every text: properties over mutated fixtures, soups of tokens and plain bytes, and the limits.
//!
//! `PROPTEST_CASES` sets how many texts each property tries.

use std::{fs, path::Path};

use proptest::prelude::*;

use crate::{
    SYNTAX_CODES, Span, SyntaxError,
    ast::{Ast, ExprKind, Stmt, StmtKind},
    layout::lay_out,
    lexer::lex,
    parse,
    parse::run,
    parse_bytes, parse_condition, parse_duration, parse_range, parse_value,
    token::{Keyword, Start, Token},
};

fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "proc"));
    paths.sort();
    assert!(paths.len() > 10, "the fixtures are found");
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Whatever the text: the parser comes to its end, and what it reports can be shown.
fn holds(text: &str) {
    balanced(text);
    for start in [Start::File, Start::Condition, Start::Value, Start::Range, Start::Duration] {
        let (parsed, errors) = run(text, start);
        assert!(parsed.is_some(), "the parser gave up as {start:?}: {errors:?}\n{text}");
        let mut before = 0;
        for error in &errors {
            assert!(SYNTAX_CODES.iter().any(|(code, _)| *code == error.code), "{error:?}");
            assert!(text.get(error.span.start..error.span.end).is_some(), "{error:?}\n{text}");
            assert!(before <= error.span.start, "source order: {errors:?}");
            assert!(!error.message.contains('\n'), "one line: {error:?}");
            before = error.span.start;
        }
    }
}

/// Each indent has its dedent; it follows a line whose first word opens a block, and no such line is without.
fn balanced(text: &str) {
    let laid = lay_out(text, lex(text).0);
    let mut depth = 0_usize;
    let mut first: Option<Token<'_>> = None;
    let mut at_start = true;
    for lexeme in &laid.tokens {
        match lexeme.token {
            Token::Indent => {
                let opens = first.is_none_or(|first| {
                    first.keyword().is_none_or(|keyword| keyword.opens_block() || !keyword.begins_line())
                });
                assert!(opens, "{first:?} opens no block:\n{text}");
                depth += 1;
                assert!(depth <= crate::NESTING_LIMIT, "{text}");
            }
            Token::Dedent => depth = depth.checked_sub(1).expect("a dedent has its indent"),
            Token::Newline => {
                let opens = first.and_then(Token::keyword).is_some_and(Keyword::opens_block);
                assert!(!opens, "{first:?} opens a block:\n{text}");
            }
            Token::Start(_) => {}
            token => {
                if at_start {
                    first = Some(token);
                }
                at_start = false;
                continue;
            }
        }
        assert!(lexeme.span.is_empty());
        at_start = true;
        if lexeme.token != Token::Newline {
            first = None;
        }
    }
    assert_eq!(depth, 0, "{text}");
}

/// A change to a text. The numbers are places, taken modulo what there is.
#[derive(Clone, Debug)]
enum Mutation {
    Remove { at: usize, count: usize },
    Insert { at: usize, text: String },
    RemoveLine { at: usize },
    RepeatLine { at: usize },
    SwapLines { one: usize, other: usize },
    Indent { at: usize, by: String },
}

fn snippet() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "\n",
        "\n  ",
        "\t",
        " ",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "..",
        ":",
        "=",
        "==",
        "!=",
        "<",
        "+-",
        "-",
        "*",
        "/",
        "^",
        "%",
        "\"",
        "\\",
        "{",
        "}",
        "#",
        "5",
        "5 s",
        "12 V",
        "0x",
        "1e",
        "2026-10-02T10:15:00Z",
        "name",
        "a-1",
        "é",
        "\u{feff}",
        "\r",
        "'",
        "\u{0}",
        "step \"X\"\n  ",
        "    else\n",
    ])
    .prop_map(str::to_owned);
    let keyword = prop::sample::select(Keyword::ALL.to_vec()).prop_map(|keyword| format!(" {} ", keyword.text()));
    prop_oneof![fixed, keyword, "\\PC{1,3}"]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = || any::<usize>();
    prop_oneof![
        (place(), 1..6_usize).prop_map(|(at, count)| Mutation::Remove { at, count }),
        (place(), snippet()).prop_map(|(at, text)| Mutation::Insert { at, text }),
        place().prop_map(|at| Mutation::RemoveLine { at }),
        place().prop_map(|at| Mutation::RepeatLine { at }),
        (place(), place()).prop_map(|(one, other)| Mutation::SwapLines { one, other }),
        (place(), " {0,5}|\t").prop_map(|(at, by)| Mutation::Indent { at, by }),
    ]
}

fn mutated(text: &str, mutation: &Mutation) -> String {
    let characters: Vec<char> = text.chars().collect();
    let place = |at: usize| at % (characters.len() + 1);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let count = lines.len().max(1);
    match mutation {
        Mutation::Remove { at, count } => {
            let at = place(*at);
            characters
                .iter()
                .enumerate()
                .filter(|(here, _)| *here < at || *here >= at + count)
                .map(|(_, one)| one)
                .collect()
        }
        Mutation::Insert { at, text } => {
            let (before, behind) = characters.split_at(place(*at));
            before.iter().copied().chain(text.chars()).chain(behind.iter().copied()).collect()
        }
        _ if lines.is_empty() => String::new(),
        Mutation::RemoveLine { at } => {
            lines.remove(at % count);
            lines.concat()
        }
        Mutation::RepeatLine { at } => {
            lines.insert(at % count, lines[at % count].clone());
            lines.concat()
        }
        Mutation::SwapLines { one, other } => {
            lines.swap(one % count, other % count);
            lines.concat()
        }
        Mutation::Indent { at, by } => {
            let line = &mut lines[at % count];
            *line = format!("{by}{}", line.trim_start_matches(' '));
            lines.concat()
        }
    }
}

fn config() -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").is_ok();
    let default = ProptestConfig::default();
    ProptestConfig { cases: if set { default.cases } else { 2_000 }, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_mutated_fixture_is_read_to_its_end(
        text in prop::sample::select(fixtures()),
        mutations in prop::collection::vec(mutation(), 1..8),
    ) {
        let text = mutations.iter().fold(text, |text, mutation| mutated(&text, mutation));
        holds(&text);
    }

    #[test]
    fn a_soup_of_tokens_is_read_to_its_end(soup in prop::collection::vec(snippet(), 0..40)) {
        holds(&soup.concat());
    }

    #[test]
    fn bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let (_, errors) = parse_bytes(&bytes);
        match core::str::from_utf8(&bytes) {
            Ok(text) => holds(text),
            Err(error) => {
                prop_assert_eq!(errors.len(), 1);
                prop_assert_eq!(errors[0].code, crate::error::INVALID_UTF8);
                prop_assert_eq!(errors[0].span.start, error.valid_up_to());
            }
        }
    }

    /// At most one token that does not fit a line, and none on a line that has a lexical fault.
    #[test]
    fn a_line_has_one_unfit_token(
        text in prop::sample::select(fixtures()),
        mutations in prop::collection::vec(mutation(), 1..8),
    ) {
        use crate::error::{BAD_NUMBER, EXPECTED, UNKNOWN_CHARACTER, UNKNOWN_STATEMENT, UNTERMINATED_STRING};
        let text = mutations.iter().fold(text, |text, mutation| mutated(&text, mutation));
        let laid = lay_out(&text, lex(&text).0);
        for line in laid.lines {
            let inside: Vec<SyntaxError> = parse(&text)
                .1
                .into_iter()
                .filter(|error| line.span.start <= error.span.start && error.span.start < line.span.end)
                .collect();
            let unfit = inside.iter().filter(|error| matches!(error.code, EXPECTED | UNKNOWN_STATEMENT)).count();
            let lexical = inside.iter().any(|error| {
                matches!(error.code, UNKNOWN_CHARACTER | UNTERMINATED_STRING)
                    || (error.code == BAD_NUMBER && error.message.ends_with("is no number"))
            });
            prop_assert!(unfit <= usize::from(!lexical), "{:?}\n{}", inside, text);
        }
    }
}

/// Parses on a stack that nothing unbounded fits on, and says what is reported.
fn codes(text: String) -> (Ast, Vec<(&'static str, Span)>) {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        let (ast, errors) = parse(&text);
        // Dropping a tree recurses too.
        drop(ast.clone());
        (ast, errors.into_iter().map(|error| (error.code, error.span)).collect())
    });
    thread.unwrap().join().unwrap()
}

/// A definition with so many blocks inside one another, its own one counted.
fn nested(blocks: usize) -> String {
    let mut text = String::from("procedure \"Deep\"\n");
    for depth in 1..blocks {
        text.push_str(&format!("{}if x is {depth}\n", "  ".repeat(depth)));
    }
    for depth in (1..=blocks).rev() {
        text.push_str(&format!("{}wait {depth} s\n", "  ".repeat(depth)));
    }
    text
}

#[test]
fn blocks_nest_to_the_limit_and_no_further() {
    assert_eq!(codes(nested(64)).1, []);
    for blocks in [65, 66, 300, 2_000] {
        let text = nested(blocks);
        let header = text.find("if x is 64").unwrap();
        let expected = (crate::error::NESTING_TOO_DEEP, Span::new(header, header + "if x is 64".len()));
        assert_eq!(codes(text).1, [expected], "{blocks} blocks");
    }
}

#[test]
fn brackets_nest_to_the_limit_and_no_further() {
    let text = |open: usize, close: usize| format!("step \"A\"\n  check {}a{}\n", "(".repeat(open), ")".repeat(close));
    assert_eq!(codes(text(64, 64)).1, []);
    let at = "step \"A\"\n  check ".len() + 64;
    let expected = [(crate::error::NESTING_TOO_DEEP, Span::new(at, at + 1))];
    for (open, close) in [(65, 65), (400, 400), (400, 3), (100_000, 100_000)] {
        assert_eq!(codes(text(open, close)).1, expected, "{open} and {close}");
    }
    let index = format!("step \"A\"\n  check {}a{}\n", "a[".repeat(400), "]".repeat(400));
    assert_eq!(codes(index).1.len(), 1);
}

#[test]
fn long_chains_are_flat() {
    let sum = vec!["1"; 3_000].join(" + ");
    let conjunction = vec!["a is b"; 3_000].join(" and ");
    let negation = "not ".repeat(10_001);
    let choice = vec!["x"; 3_000].join(" or ");
    let text = format!("step \"A\"\n  let x = {sum}\n  check {conjunction}\n  check {negation}a\n  check {choice}\n");
    let (ast, errors) = codes(text);
    assert_eq!(errors, []);
    let body = &ast.definitions[0].body;
    let StmtKind::Let(sum) = &body[0].kind else { panic!("{body:?}") };
    let ExprKind::Sum(sum) = &sum.value.kind else { panic!("{sum:?}") };
    assert_eq!(sum.rest.len(), 2_999);
    let StmtKind::Check(negation) = &body[2].kind else { panic!("{body:?}") };
    assert!(matches!(negation.condition.kind, ExprKind::Not(_)));
}

#[test]
fn large_files_are_read_whole() {
    let sends = format!("step \"A\"\n  uses sat: p\n{}", "  send ping to sat.tcu[1]\n".repeat(10_000));
    let (ast, errors) = codes(sends);
    assert_eq!(errors, []);
    assert_eq!(ast.definitions[0].body.len(), 10_000);

    let lines = "step \"A\"\n  wait 1 s\n".repeat(50_000);
    let (ast, errors) = codes(lines);
    assert_eq!(errors, []);
    assert_eq!(ast.definitions.len(), 50_000);

    let name = "x".repeat(10_000);
    let (_, errors) = codes(format!("step \"A\"\n  let {name} = 1\n  {name}\n"));
    assert_eq!(errors.len(), 1);

    let wrong = format!("step \"A\"\n{}", "  expect a is b\n".repeat(20_000));
    assert_eq!(codes(wrong).1.len(), 20_000);
    let staircase: String = (0..2_000).map(|depth| format!("{}wait 1 s\n", " ".repeat(depth))).collect();
    assert!(!codes(staircase).1.is_empty());
}

#[test]
fn line_ends_and_byte_order_mark_change_no_tree() {
    for text in fixtures() {
        let shape = |text: &str| {
            let (ast, errors) = parse(text);
            let kinds: Vec<_> =
                ast.definitions.iter().map(|one| (one.name.value.clone(), statements(&one.body))).collect();
            (kinds, errors.into_iter().map(|error| (error.code, error.message)).collect::<Vec<_>>())
        };
        let plain = shape(&text);
        assert_eq!(shape(&text.replace('\n', "\r\n")), plain, "{text}");
        assert_eq!(shape(&format!("\u{feff}{text}")), plain, "{text}");
        assert_eq!(shape(text.trim_end()), plain, "without the last end of line: {text}");
        assert_eq!(shape(&text.replace('\n', " # é\n")).0.len(), plain.0.len(), "with comments: {text}");
    }
}

fn statements(body: &[Stmt]) -> Vec<core::mem::Discriminant<StmtKind>> {
    body.iter().map(|statement| core::mem::discriminant(&statement.kind)).collect()
}

#[test]
fn a_retry_spans_its_clause() {
    let text = "step \"Standby\" retry 2 times\n  wait 1 s\n";
    let (ast, _) = parse(text);
    let retry = ast.definitions[0].retry.as_ref().unwrap();
    assert_eq!((retry.span.start, retry.span.len()), (15, 13));
    assert_eq!(retry.span.of(text), "retry 2 times");
}

#[test]
fn pieces_of_the_language_stand_in_other_documents() {
    for text in
        ["mode is not SAFE", "temperature > 60 degC", "a is 1\n  and b is 2", "cell[3].voltage between 3 V and 4 V"]
    {
        assert_eq!(parse_condition(text).1, [], "{text}");
    }
    for text in ["2", "12.5 W", "STANDBY", "\"text\"", "-3", "5 min", "2026-10-02T10:15:00Z", "sat.tcu[1].mode", "true"]
    {
        assert_eq!(parse_value(text).1, [], "{text}");
    }
    for text in ["-40..125", "1..4", "0.5 .. 1.5", "-1.5 V..1.5 V"] {
        let (range, errors) = parse_range(text);
        assert_eq!(errors, [], "{text}");
        assert_eq!(range.unwrap().span.of(text), text);
    }
    assert_eq!(parse_duration("2s").0.nanos, Some(2_000_000_000));
    assert_eq!(parse_duration("1 min").0.nanos, Some(60_000_000_000));

    for text in ["", "mode is", "mode is not SAFE extra", "> 3", "mode = SAFE", "a is 1 and", "(a is 1", "é"] {
        let (_, errors) = parse_condition(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
    }
    for text in ["", "5", "x", "5 V", "-5 s", "400 d", "1 s 2 s", "5 s.."] {
        let (duration, errors) = parse_duration(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert!(duration.nanos.is_none() || text.starts_with("5 s"), "{text}");
    }
    assert_eq!(parse_range("1").0, None);
    assert_eq!(parse_range("1..").1.len(), 1);
}
