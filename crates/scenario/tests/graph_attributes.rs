//! Tests of attributes in graph files: classes, bandwidths, latencies and hosts, with their warnings and refusals.

use std::collections::BTreeMap;
use weft_scenario::{Diagnostic, Point, expand_with};
use weft_units::{Bandwidth, Time};

/// The content of a file in tests/data/graphs.
macro_rules! file {
    ($name:literal) => {
        include_str!(concat!("../../../tests/data/graphs/", $name))
    };
}

/// Creates the point of a scenario with this topology and these links, for a file `net.json` or `net.graphml`.
fn point(file: &str, topology: &str, links: &str) -> Result<Point, Diagnostic> {
    let name = if file.trim_start().starts_with('<') { "net.graphml" } else { "net.json" };
    let text = format!(
        "cycle: 1ns\nflit: 50B\ntopology: {{graph: {{file: {name}{topology}}}}}\nlinks: {{{links}}}\n\
         router: {{delay: 200ns}}\nrouting: shortest_path\n\
         traffic: {{pattern: uniform, packet: 8flits, load: 0.1}}\nmeasure: {{warmup: 10us, window: 20us}}\n"
    );
    expand_with("a.yaml", &text, &[], vec![(name.to_owned(), file.as_bytes().to_vec())])
        .map(|mut points| points.remove(0))
}

/// The codes of the warnings of a point, with their numbers.
fn codes(point: &Point) -> Vec<(&str, BTreeMap<String, f64>)> {
    let numbers = |warning: &weft_scenario::Warning| {
        warning.numbers.iter().map(|(name, value)| (name.to_string(), *value)).collect()
    };
    point.warnings.iter().map(|warning| (warning.code.name, numbers(warning))).collect()
}

fn numbers(of: &[(&str, f64)]) -> BTreeMap<String, f64> {
    of.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

/// Latency and bandwidth of each link class of a point.
fn links(point: &Point) -> BTreeMap<&str, (Option<Time>, Option<Bandwidth>)> {
    point.scenario.links.iter().map(|(class, link)| (class.as_str(), (link.latency, link.bandwidth))).collect()
}

fn time(text: &str) -> Option<Time> {
    Some(text.parse().expect("a time"))
}

fn speed(text: &str) -> Option<Bandwidth> {
    Some(text.parse().expect("a bandwidth"))
}

const LINKS: &str = "default: {latency: 20ns, vcs: 4, buffer: 512flits}, terminal: {latency: 10ns, bandwidth: 100Gb/s}";

#[test]
fn bandwidths_that_nothing_reads_are_named() {
    // all 53 edges of the file have a bandwidth, but the scenario does not use these bandwidths
    let edges = file!("noclass.graphml").matches("<edge ").count() as f64;
    let bare = point(file!("noclass.graphml"), "", LINKS).expect("a point");
    let racks = file!("noclass.graphml").matches(">R").count() as f64;
    let unused = numbers(&[("edges.bandwidth", edges), ("nodes.rack", racks)]);
    assert_eq!(codes(&bare)[0], ("graph_attributes_unused", unused));
    let help = &bare.warnings[0].help;
    assert!(help.contains("attributes: {bandwidth: {from: bandwidth, unit: UNIT}}"), "{help}");
    // the remedy works if its unit is the unit of the file
    let used =
        point(file!("noclass.graphml"), ", attributes: {bandwidth: {from: bandwidth, unit: Gb/s}}", LINKS).unwrap();
    let read = links(&used);
    assert_eq!((read["link_100G"].1, read["link_400G"].1), (speed("100Gb/s"), speed("400Gb/s")));
    assert_eq!(read["link_100G"].0, time("20ns"), "from links.default");
    assert_eq!(codes(&used)[0].1, numbers(&[("nodes.rack", racks)]));
}

#[test]
fn a_misspelt_attribute_is_refused_at_its_file() {
    let links = &format!("{LINKS}, g100: {{bandwidth: 100Gb/s}}, g400: {{bandwidth: 400Gb/s}}");
    let refused = point(file!("typo.graphml"), "", links).expect_err("`terminal`");
    assert_eq!((refused.path.as_str(), refused.line), ("topology.graph.file", Some(3)));
    assert!(refused.what.ends_with("did you mean `terminals`?"), "{refused}");
    // one of twelve leaves has the attribute `terminal` instead of `terminals`, so its 8 terminals are missing
    let terminals = |topology: &str| {
        let point = point(file!("typo.graphml"), topology, links).expect("a point");
        point.spec().expect("a spec").graph.terminals()
    };
    assert_eq!(terminals(", attributes: {terminals: {from: terminals}}"), 88);
}

#[test]
fn a_class_of_the_file_without_a_section_is_named() {
    let graph = r#"{"nodes": [{"id": 0, "terminals": 1}, {"id": 1, "terminals": 1}, {"id": 2}], "edges": [
        {"source": 0, "target": 1, "class": "fast"}, {"source": 1, "target": 2, "class": "slow"}, {"source": 0, "target": 2}]}"#;
    let slow_only = point(graph, "", &format!("{LINKS}, slow: {{latency: 1us}}")).expect("a point");
    assert_eq!(codes(&slow_only)[..1], [("link_class_without_section", numbers(&[("links", 1.0)]))]);
    assert_eq!(slow_only.warnings[0].path, "links.fast");
    let both = point(graph, "", &format!("{LINKS}, slow: {{latency: 1us}}, fast: {{}}")).expect("a point");
    assert!(codes(&both).iter().all(|(code, _)| *code != "link_class_without_section"));
}

#[test]
fn hosts_of_a_file_are_terminals_with_the_speed_of_their_links() {
    let mapped = ", attributes: {bandwidth: {from: capacity}}";
    let bare = "default: {latency: 20ns, vcs: 4, buffer: 512flits}";
    let found = point(file!("servers.graphml"), mapped, bare).expect("a point");
    // the network has 12 leaves, 5 spines and 96 servers
    let counts = |point: &Point| {
        let graph = point.spec().expect("a spec").graph;
        (graph.routers(), graph.terminals())
    };
    assert_eq!(counts(&found), (17, 96));
    assert_eq!(codes(&found), [("graph_hosts_found", numbers(&[("hosts", 96.0), ("nodes", 113.0)]))]);
    let read = links(&found);
    assert_eq!((read["terminal"].1, read["link_400G"].1), (speed("100Gb/s"), speed("400Gb/s")));
    let rule = ", attributes: {bandwidth: {from: capacity}}, hosts: {attribute: id, value: \"server*\"}";
    let asked = point(file!("servers.graphml"), rule, bare).expect("a point");
    assert_eq!((counts(&asked), codes(&asked)), ((17, 96), Vec::new()));
    let own =
        point(file!("servers.graphml"), rule, &format!("{bare}, terminal: {{bandwidth: 50Gb/s}}")).expect("a point");
    assert_eq!(links(&own)["terminal"].1, speed("50Gb/s"), "the scenario wins");
}

/// A graph file with two routers, joined by a link with these attributes.
fn pair(attributes: &str) -> String {
    format!(
        r#"{{"nodes": [{{"id": 0, "terminals": 1}}, {{"id": 1, "terminals": 1}}], "edges": [{{"source": 0, "target": 1, {attributes}}}]}}"#
    )
}

#[test]
fn lengths_are_rounded_up_to_cycles_and_times_are_not() {
    // 3.3 m x 5 ns/m = 16.5 ns, rounded up to 17 cycles of 1 ns
    let length = ", attributes: {latency: {from: d, unit: m}}";
    let cable = point(&pair(r#""d": 3.3"#), length, LINKS).expect("a point");
    assert_eq!(links(&cable)["link_16500ps"].0, time("17ns"));
    assert_eq!(codes(&cable)[0], ("graph_latencies_rounded", numbers(&[("classes", 1.0), ("most_ns", 0.5)])));
    let whole = point(&pair(r#""d": 3"#), length, LINKS).expect("a point");
    assert!(links(&whole)["link_15ns"].0 == time("15ns") && codes(&whole).is_empty());
    let us = |more: &str| format!(", attributes: {{latency: {{from: d, unit: us{more}}}}}");
    let refused = point(&pair(r#""d": 0.0165"#), &us(""), LINKS).expect_err("no whole number of cycles");
    assert_eq!(
        refused.what,
        "the latency of `link_16500ps` links in the file: 16.5ns is 16.5 cycles of 1ns, not a whole number"
    );
    assert_eq!(
        refused.help,
        "write `round: 1cycle` in `attributes.latency`, or write `links.link_16500ps.latency`, which overrides the file; \
         or correct the file: write 16ns (16cycles) or 17ns (17cycles)"
    );
    let rounded = point(&pair(r#""d": 0.0165"#), &us(", round: 1cycle"), LINKS).expect("the first remedy");
    assert_eq!(links(&rounded)["link_16500ps"].0, time("17ns"));
    // 300,000 s are 3 * 10^14 cycles, more than the limit 2^48 = 2.8 * 10^14, so rounding cannot help
    let long = point(&pair(r#""d": 3e11"#), &us(""), LINKS).expect_err("too long");
    assert!(long.what.contains("more than 2^48") && long.help.starts_with("write `links.link_"), "{long}");
    let own = format!("{LINKS}, link_16500ps: {{latency: 16ns}}");
    let own = point(&pair(r#""d": 0.0165"#), &us(""), &own).expect("the second remedy");
    assert_eq!(links(&own)["link_16500ps"].0, time("16ns"));
    // the latency is rounded to a multiple of 5 ns, and of 10 cycles
    assert_eq!(
        links(&point(&pair(r#""d": 3.3"#), ", attributes: {latency: {from: d, unit: m, round: 5ns}}", LINKS).unwrap())
            ["link_20ns"]
            .0,
        time("20ns")
    );
    assert_eq!(
        links(
            &point(&pair(r#""d": 3.3"#), ", attributes: {latency: {from: d, unit: m, round: 10cycles}}", LINKS)
                .unwrap()
        )["link_16500ps"]
            .0,
        time("20ns")
    );
}

#[test]
fn a_value_of_the_file_that_no_link_can_have_is_refused_at_the_file() {
    let mapped = ", attributes: {latency: {from: d, unit: m}, bandwidth: {from: c, unit: Gb/s}}";
    // a cable of 7.7777777 Gb/s carries 7.7777777 Gb/s x 1 ns / 400 bits, that is, 77,777,777 flits in 4,000,000,000 cycles
    let refused = point(&pair(r#""d": 1, "c": 7.7777777"#), mapped, LINKS).expect_err("too long a period");
    assert_eq!((refused.path.as_str(), refused.line), ("topology.graph.file", Some(3)));
    assert!(
        refused.what.starts_with("the bandwidth of `link_7777777700b_5ns` links in the file: 77777777 flits in"),
        "{refused}"
    );
    // the remedy keeps two digits of 7.7777777 Gb/s
    assert!(refused.help.starts_with("write `round: 100Mb/s` in `attributes.bandwidth`, or"), "{refused}");
    let rounded = mapped.replace("unit: Gb/s", "unit: Gb/s, round: 100Mb/s");
    let rounded = point(&pair(r#""d": 1, "c": 7.7777777"#), &rounded, LINKS).expect("the remedy");
    assert_eq!(links(&rounded)["link_7800M_5ns"].1, speed("7.8Gb/s"));
    // no rounding makes a link of 20 b/s fast enough. With cycles of 1 ns and flits of 400 bits it carries 1 flit in 2e10 cycles
    let slow = point(&pair(r#""d": 1, "c": 0.00000002"#), mapped, LINKS).expect_err("too slow");
    assert!(slow.help.starts_with("write `links.link_20b_5ns.bandwidth`"), "{slow}");
    // refused: a link of length 0 after a router without a delay takes no time
    let text = "topology: {graph: {file: net.json, attributes: {latency: {from: d, unit: m}}}}\nrouter: {delay: 0cycles}\n\
                routing: shortest_path\ntraffic: {pattern: uniform, packet: 1flit, load: 0.1}\n";
    let no_time = |text: &str| {
        let file = pair(r#""d": 0"#).into_bytes();
        expand_with("a.yaml", text, &[], vec![("net.json".to_owned(), file)])
    };
    let refused = no_time(text).expect_err("no time at all");
    assert_eq!((refused.path.as_str(), refused.line), ("topology.graph.file", Some(1)));
    assert!(refused.help.starts_with("write `links.link_0fs.latency: 1cycle` or more"), "{refused}");
    assert!(no_time(&format!("{text}links: {{link_0fs: {{latency: 1cycle}}}}\n")).is_ok(), "the remedy");
}

/// A scenario with two routers, joined by cables of 100 and of 400 Gb/s. `first` is the first line of the scenario. This line sets the
/// units.
fn two_speeds(first: &str) -> Result<Point, Diagnostic> {
    let file = r#"{"nodes": [{"id": 0, "terminals": 1}, {"id": 1, "terminals": 1}, {"id": 2, "terminals": 1}],
        "links": [{"source": 0, "target": 1, "c": 100}, {"source": 1, "target": 2, "c": 400}]}"#;
    let text = format!(
        "{first}\ntopology: {{graph: {{file: net.json, attributes: {{bandwidth: {{from: c, unit: Gb/s}}}}}}}}\n\
         links: {{default: {{latency: 20ns, vcs: 4, buffer: 512flits}}}}\nrouting: shortest_path\n\
         traffic: {{pattern: uniform, packet: 8flits, load: 0.1}}\nmeasure: {{warmup: 10us, window: 20us}}\n"
    );
    expand_with("a.yaml", &text, &[], vec![("net.json".to_owned(), file.as_bytes().to_vec())])
        .map(|mut points| points.remove(0))
}

#[test]
fn links_faster_than_the_default_flit_are_offered_their_speed_first() {
    let help = |first: &str| two_speeds(first).unwrap().check_network().unwrap_err().to_string();
    let message = help("");
    assert!(message.contains("help: write `link_speed: 400Gb/s`, the speed of the fastest link"), "{message}");
    assert_eq!(two_speeds("link_speed: 400Gb/s").unwrap().check_network(), Ok(()));
    // the remedy keeps a cycle or a flit that the user has chosen
    for written in ["cycle: 1ns", "flit: 48b", "link_speed: 100Gb/s"] {
        let message = help(written);
        assert!(
            !message.contains("link_speed: 400Gb/s") && message.contains("help: write at most 2flits/cycle"),
            "{message}"
        );
    }
}

#[test]
fn hardware_without_a_speed_has_that_of_the_links() {
    let first = |speed: &str| format!("{speed}\npower: {{catalogue: {{cables: dr}}}}");
    let point = two_speeds(&first("link_speed: 400Gb/s")).unwrap();
    assert_eq!(point.resolved["power"]["catalogue"]["speed"], "400Gb/s");
    let other = two_speeds("link_speed: 400Gb/s\npower: {catalogue: {speed: 800Gb/s, cables: dr}}").unwrap();
    assert_eq!(other.resolved["power"]["catalogue"]["speed"], "800Gb/s");
    let message = two_speeds(&first("flit: 400b")).unwrap_err().to_string();
    assert!(message.contains("speed"), "{message}");
    let message = two_speeds(&first("link_speed: 300Gb/s")).unwrap_err().to_string();
    assert!(message.contains("300Gb/s") && message.contains("400Gb/s"), "{message}");
}
