//! Tests of latencies that the scenario does not set: those of terminal links, and those of links whose latency is in a
//! graph file.

use serde_json::Value;
use weft_scenario::{expand, expand_with};

fn latency(resolved: &Value, class: &str) -> Value {
    resolved["links"][class]["latency"].clone()
}

#[test]
fn terminal_links_are_short_unless_someone_says_otherwise() {
    let base = "topology: {hyperx: {widths: [2], terminals_per_router: 2}}\nrouting: minimal\n\
                traffic: {pattern: uniform, load: 0.1}\n";
    for (links, terminal, other) in [
        ("", "1cycle", "10cycles"),
        ("links: {default: {vcs: 4}}", "1cycle", "10cycles"),
        ("links: {dim0: {latency: 7cycles}}", "1cycle", "7cycles"),
        ("links: {default: {latency: 5cycles}}", "5cycles", "5cycles"),
        ("links: {terminal: {latency: 3cycles}}", "3cycles", "10cycles"),
    ] {
        let point = &expand("a.yaml", &format!("{base}{links}\n"), &[]).expect("sound")[0];
        assert_eq!(latency(&point.resolved, "terminal"), terminal, "{links}");
        assert_eq!(latency(&point.resolved, "dim0"), other, "{links}");
        // the scenario with all defaults filled in is the same point
        let again = &expand("b.yaml", &point.resolved_yaml(), &[]).expect("sound")[0];
        assert_eq!(again.hash, point.hash, "{links}");
    }
}

#[test]
fn a_graph_file_says_how_long_its_links_are() {
    let text = "topology: {graph: {file: ring.anynet}}\nrouting: shortest_path\n\
                traffic: {pattern: uniform, load: 0.1}\nlinks: {default: {latency: 4cycles}}\n";
    let ring =
        "router 0 node 0 router 1 15 router 2\nrouter 1 node 1 router 0 15 router 2 8\nrouter 2 node 2 router 1 8\n";
    let attached = vec![("ring.anynet".to_owned(), ring.as_bytes().to_vec())];
    let point = &expand_with("a.yaml", text, &[], attached.clone()).expect("sound")[0];
    for (class, cycles) in [("latency15", "15cycles"), ("latency8", "8cycles"), ("link", "4cycles")] {
        assert_eq!(latency(&point.resolved, class), cycles);
    }
    let sets = [("links.latency8.latency".to_owned(), "9cycles".to_owned())];
    let point = &expand_with("a.yaml", text, &sets, attached).expect("sound")[0];
    assert_eq!(latency(&point.resolved, "latency8"), "9cycles");
}
