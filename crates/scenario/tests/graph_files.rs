//! Tests of scenarios with the network of a graph file: runs with known results, and refusals.

use weft_engine::spec::Execution;
use weft_scenario::{Diagnostic, Finished, Point, expand_with};

/// The points of a scenario for a network in this file, with the keys `more` at the end.
pub fn points(file: &str, text: &str, more: &str) -> Result<Vec<Point>, Diagnostic> {
    let scenario = format!(
        "topology: {{graph: {{file: {file}}}}}\nlinks: {{default: {{latency: 1cycle, vcs: 4, buffer: 64flits}}}}\n\
         routing: shortest_path\ntraffic: {{pattern: uniform, packet: 1flit, load: 0.05}}\n\
         measure: {{warmup: 1000cycles, window: 4000cycles}}\n{more}\n"
    );
    expand_with("a.yaml", &scenario, &[], vec![(file.to_owned(), text.as_bytes().to_vec())])
}

pub fn point(file: &str, text: &str, more: &str) -> Point {
    points(file, text, more).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

pub fn run(file: &str, text: &str, more: &str) -> Finished {
    let how = Execution::new(1, 1);
    point(file, text, more).run(how, &()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn refused(file: &str, text: &str, more: &str) -> Diagnostic {
    points(file, text, more).expect_err("the scenario is bad")
}

/// The zero-load latency on the network in this file [cycles].
fn zero_load(file: &str, text: &str, more: &str) -> f64 {
    let spec = point(file, text, more).spec().expect("good");
    weft_engine::imply(&spec).expect("good").zero_load_latency.expect("a latency")
}

/// A graph file: 2 routers with 2 terminals each, and this number of links between the two routers.
fn pair(links: usize) -> String {
    let link = |key| format!(r#"{{"source": 0, "target": 1, "key": {key}}}"#);
    let links: Vec<String> = (0..links).map(link).collect();
    let nodes = r#"[{"id": 0, "terminals": 2}, {"id": 1, "terminals": 2}]"#;
    format!(r#"{{"directed": false, "multigraph": true, "nodes": {nodes}, "links": [{}]}}"#, links.join(", "))
}

#[test]
fn parallel_links_of_a_file_carry_together_what_they_can() {
    // A terminal sends 2 of 3 packets to the other router. At load 0.9 the 2 terminals send 2 * 0.9 * 2/3 = 1.2 flits
    // per cycle over the links. A single link cannot carry this load; each of 4 links carries 0.3.
    let load = "sweep: {traffic.load: [0.9]}";
    let one = run("pair.json", &pair(1), load);
    assert_eq!(one.summary["saturated"], true, "{:#}", one.summary);
    let four = run("pair.json", &pair(4), load);
    assert_eq!(four.summary["saturated"], false, "{:#}", four.summary);
    let rows = four.channels.rows.iter().filter(|row| &*row.link_class == "link");
    let used: Vec<f64> = rows.map(|row| row.count.flits.iter().sum::<u64>() as f64 / 4000.0).collect();
    assert_eq!(used.len(), 8);
    // a link carries 0.3 * 4000 = 1200 flits, with a standard deviation of about sqrt(1200). The tolerance of 15 % is 5 standard
    // deviations
    assert!(used.iter().all(|used| (used - 0.3).abs() < 0.3 * 0.15), "{used:?}");
}

#[test]
fn parallel_links_of_a_file_may_add_up() {
    let sum = "sweep: {topology.graph.parallel_links: [sum], traffic.load: [0.9], router.speedup: [4]}";
    let point = point("pair.json", &pair(4), sum);
    assert_eq!(point.resolved["links"]["link_x4"]["bandwidth"], "4flits/cycle");
    assert_eq!(point.spec().expect("good").graph.links_by_class()[1..], [("link".into(), 0), ("link_x4".into(), 1)]);
    // as above, the joined link carries 1.2 flits per cycle in each direction
    let finished = run("pair.json", &pair(4), sum);
    assert_eq!(finished.summary["saturated"], false, "{:#}", finished.summary);
    let rows = finished.channels.rows.iter().filter(|row| &*row.link_class == "link_x4");
    let used: Vec<f64> = rows.map(|row| row.count.flits.iter().sum::<u64>() as f64 / 4000.0).collect();
    assert!(used.len() == 2 && used.iter().all(|used| (used - 1.2).abs() < 1.2 * 0.075), "{used:?}");
    // a key for the single links also applies to the joined link, but the section of the joined link has priority
    let keys = "sweep: {topology.graph.parallel_links: [sum], links.link.latency: [7cycles], \
                links.link_x4.bandwidth: [1flit/cycle]}";
    let links = self::point("pair.json", &pair(4), keys).resolved["links"]["link_x4"].clone();
    assert_eq!((&links["latency"], &links["bandwidth"]), (&"7cycles".into(), &"1flit/cycle".into()));
    let slow = self::point("pair.json", &pair(4), "sweep: {topology.graph.parallel_links: [sum]}");
    let problem = slow.check_network().expect_err("the crossbar feeds 2 flits per cycle");
    assert!(problem.help.contains("router.speedup: 4 or more"), "{problem}");
}

#[test]
fn a_latency_that_is_stated_one_way_holds_one_way_and_is_reported_with_its_credits() {
    let text = "router 0 node 0 router 1 15\nrouter 1 node 1\n";
    let zero_load = |text: &str| zero_load("sym.anynet", text, "");
    let (one_way, short) = (zero_load(text), zero_load("router 0 node 0 router 1 1\nrouter 1 node 1\n"));
    let long = zero_load(&format!("{text}router 1 router 0 15\n"));
    // a channel of 15 cycles instead of 1 cycle adds 14 cycles. If only one direction is longer, half of the packets take longer
    assert_eq!((one_way - short, long - short), (7.0, 14.0));
    let credits_and_warnings = |more: &str| {
        let point = point("sym.anynet", text, more);
        let (spec, warnings) = (point.spec().expect("good"), point.warnings);
        let classes = spec.graph.class_names().iter().map(String::as_str);
        let credits: Vec<_> =
            classes.zip(&spec.links).skip(1).map(|(name, link)| (name.to_owned(), link.credit_latency)).collect();
        (credits, warnings)
    };
    let names = |there, back| vec![("latency1".to_owned(), back), ("latency15".to_owned(), there)];
    let of_class = |mut credits: Vec<(String, u64)>| {
        credits.retain(|(name, _)| name.starts_with("latency"));
        credits.sort();
        credits
    };
    let (credits, warnings) = credits_and_warnings("");
    assert_eq!(of_class(credits), names(15, 1));
    let warning =
        warnings.iter().find(|warning| warning.code.name == "anynet_credits_unlike_booksim").expect("a warning");
    // the remedy works: a credit then takes the same time as its flit
    let keys = "links.latency1.credit_latency to the latency of latency15, and links.latency15.credit_latency to the latency of latency1";
    assert!(warning.help.contains(keys), "{}", warning.help);
    let (credits, _) = credits_and_warnings(
        "sweep: {links.latency1.credit_latency: [15cycles], links.latency15.credit_latency: [1cycle]}",
    );
    assert_eq!(of_class(credits), names(1, 15));
}

#[test]
fn a_latency_of_nothing_is_shown_in_the_graph_file() {
    let text = "router 0 node 0 router 1 0\nrouter 1 node 1\n";
    let problem = refused("zero.anynet", text, "");
    assert_eq!(problem.what, "zero.anynet: line 1: column 26: the latency is 0 cycles, which BookSim2 refuses");
    assert_eq!(problem.path, "topology.graph.file");
    // both remedies work
    run("zero.anynet", &text.replace(" 0\n", " 1\n"), "");
    run("zero.anynet", &text.replace(" 0\n", "\n"), "sweep: {links.link.latency: [1cycle]}");
}

#[test]
fn a_router_with_too_many_ports_is_refused_with_their_number() {
    let links: Vec<String> = (1..=512).map(|leaf| format!(r#"{{"source": 0, "target": {leaf}}}"#)).collect();
    let nodes: Vec<String> = (0..=512).map(|node| format!(r#"{{"id": {node}}}"#)).collect();
    let text = format!(r#"{{"nodes": [{}], "links": [{}]}}"#, nodes.join(", "), links.join(", "));
    let text = text.replacen(r#"{"id": 0}"#, r#"{"id": 0, "terminals": 1}"#, 1);
    let problem = refused("star.json", &text, "");
    let what = "router 0 has 512 links and 1 terminal, which need 513 ports; a router has at most 512";
    assert!(problem.what.contains(what), "{problem}");
}

#[test]
fn a_hub_of_300_ports_runs() {
    // a network like those in the Topology Zoo: GraphML, a hub with 299 neighbours, and a terminal on each router
    let nodes: String = (0..300).map(|node| format!(r#"<node id="{node}"/>"#)).collect();
    let links: String = (1..300).map(|leaf| format!(r#"<edge source="0" target="{leaf}"/>"#)).collect();
    let text = format!(
        r#"<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">{nodes}{links}</graph></graphml>"#
    );
    let keys = "sweep: {topology.graph.terminals_per_router: [1]}";
    // Seen from a leaf, 298 routers are 2 links away, and the hub is 1 link away. Seen from the hub, all routers are 1 link away.
    let links = (299.0 * (298.0 * 2.0 + 1.0) + 299.0) / (300.0 * 299.0);
    // the expected latency has two parts: the latency between terminals of one router, and the time of each link with the router behind
    // it
    let [none, one] = ["router 0 node 0 node 1", "router 0 node 0 router 1\nrouter 1 node 1"]
        .map(|text| zero_load("few.anynet", text, ""));
    let expected = none + links * (one - none);
    let found = zero_load("hub.graphml", &text, keys);
    assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    let finished = run("hub.graphml", &text, keys);
    assert_eq!(finished.summary["saturated"], false, "{:#}", finished.summary);
    // 300 terminals send 0.05 flits in each of 4000 cycles: 60,000 flits, with a standard deviation of sqrt(60,000) = 245. The tolerance
    // of 2 % is 5 standard deviations
    let accepted = finished.summary["accepted_load"].as_f64().expect("a load");
    assert!((accepted - 0.05).abs() < 0.05 * 0.02, "{accepted}");
}
