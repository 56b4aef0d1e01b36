use super::*;
use crate::source::Origin;

fn config(text: &str) -> (Config, Vec<String>) {
    let mut sources = Sources::default();
    let file = sources.add("stellar.yaml", text.as_bytes(), Origin::Project);
    let mut out = Vec::new();
    let config = read(file, &sources, &mut out);
    let said = out.iter().map(|one| {
        let at = sources.location(one.place().unwrap());
        format!("{at} {} {}", one.code.name, one.message)
    });
    (config, said.collect())
}

#[test]
fn the_example_of_the_reference_is_read_whole() {
    let (config, said) = config(concat!(
        "time: {scale: tai}\ncatalogue: [catalogue/]\nprocedures: [procedures/]\n",
        "store: {embedded: {path: data}}\ntargets:\n",
        "  sim-1: {platform: platform-v3, link: {sim: {behaviours: sim.yaml, seed: 3}}}\n",
        "  flatsat-1: {platform: pus-c, link: {ccsds: {udp: {target: \"127.0.0.1:7301\"}}}}\n",
        "executor: {instance: exec-a, default_retry: {times: 2, every: 1 s, for: 1 min}, default_window: 5s, ",
        "freshness: 3s, max_runs: 7}\nwarnings: {deny: [procedure::unused]}\n",
    ));
    assert_eq!(said, Vec::<String>::new());
    assert_eq!((config.scale, config.store.as_str()), (Scale::Tai, "data"));
    assert_eq!((config.catalogue[0].path.as_str(), config.procedures[0].path.as_str()), ("catalogue/", "procedures/"));
    let retry = Policy { times: Some(2), every: Some(1_000_000_000), total: Some(60_000_000_000) };
    assert_eq!(config.defaults(), Defaults { retry: Some(retry), window: 5_000_000_000, freshness: 3_000_000_000 });
    assert_eq!((config.executor.instance.as_str(), config.executor.max_runs), ("exec-a", 7));
    assert!(matches!(&config.targets["sim-1"].link, Some(LinkSettings::Sim(sim)) if sim.seed == 3));
    let address = "127.0.0.1:7301".parse().unwrap();
    assert!(matches!(&config.targets["flatsat-1"].link, Some(LinkSettings::Ccsds(it)) if it.target == address));
}

#[test]
fn nothing_is_the_defaults() {
    let (config, said) = config("");
    assert!(said.is_empty());
    let retry = Policy { times: Some(1), every: Some(2_000_000_000), total: None };
    assert_eq!(config.defaults().retry, Some(retry));
}

#[test]
fn everything_wrong_is_said_at_once_and_in_place() {
    let (_, said) = config(concat!(
        "tiem: {scale: utc}\napi: {listen: \"127.0.0.1:8420\"}\nstore: {nats: {}}\n",
        "executor: {default_retry: {every: 2s}, max_runs: 0, drain: 30s}\n",
        "targets: {a.b: {platform: x}, c: {link: {}}, d: {platform: y, link: {ccsds: {udp: {target: here}}}}}\n",
        "warnings: {allow: [procedure::unusd]}\n",
    ));
    let codes: Vec<&str> = said.iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    assert_eq!(
        codes,
        [
            "config::unknown-key",
            "config::not-yet",
            "config::not-yet",
            "config::bad-value",
            "config::missing-key",
            "config::missing-key",
            "config::bad-value",
            "config::not-yet",
            "config::unbounded-retry",
            "config::bad-value",
            "config::bad-value",
        ],
        "{said:#?}"
    );
    assert!(said[0].starts_with("stellar.yaml:1:1 "), "{said:?}");
    assert!(said[1].starts_with("stellar.yaml:2:1 "), "{said:?}");
}

#[test]
fn no_retry_by_default_can_be_said() {
    let (config, said) = config("executor: {default_retry: {times: 0}}\n");
    assert!(said.is_empty());
    assert_eq!(config.defaults().retry, None);
}

#[test]
fn targets_of_unknown_platforms_are_told() {
    let (config, _) = config("targets: {a: {platform: platform-v2}, b: {platform: platform-v3}}\n");
    let said = config.unknown_platforms(["platform-v3"].into_iter());
    assert_eq!(said.len(), 1);
    assert_eq!(
        (said[0].code.name, said[0].help.as_deref()),
        ("config::unknown-platform", Some("is it `platform-v3`?"))
    );
}

#[test]
fn a_message_is_one_line_and_a_place_a_whole_character() {
    let (_, said) = config("warnings: {allow: [\"a\\n\\rb\"]}\n");
    assert_eq!(said, ["stellar.yaml:1:20 config::bad-value `a b` is no diagnostic"]);
    let (mut sources, mut out) = (Sources::default(), Vec::new());
    let file = sources.add("stellar.yaml", "😀: 1\n".as_bytes(), Origin::Project);
    let node = &yaml::read(file, &sources, &VOCABULARY, &mut out).unwrap()[0];
    assert_eq!(sources.text_of(node.place), "😀");
}
