//! Tests that the name of a router in a graph file is its id in the file: in faults, placements, groups, tables and messages.

use crate::graph_files::{point, refused, run};
use serde_json::{Value, json};
use weft_engine::recording::Column;
use weft_engine::spec::Part;
use weft_scenario::{Finished, Point};

/// A graph file of four routers in a row, with these ids in the order of the file. `links` are the pairs of routers that a link joins.
fn chain(nodes: [&str; 4], links: [[&str; 2]; 3]) -> String {
    let nodes = nodes.map(|id| format!(r#"{{"id": {id}, "terminals": 1}}"#)).join(", ");
    let links = links.map(|[a, b]| format!(r#"{{"source": {a}, "target": {b}}}"#)).join(", ");
    format!(r#"{{"nodes": [{nodes}], "links": [{links}]}}"#)
}

fn one_based() -> String {
    chain(["1", "2", "3", "4"], [["1", "2"], ["2", "3"], ["3", "4"]])
}

/// A graph file with the ids 0 to 3 in another order than that of the file.
fn other_order() -> String {
    chain(["3", "1", "2", "0"], [["0", "1"], ["1", "2"], ["2", "3"]])
}

fn texts() -> String {
    let [a, b, c, d] = [r#""leaf-a""#, r#""leaf-b""#, r#""7""#, r#""spine""#];
    chain([a, b, c, d], [[a, b], [b, c], [c, d]])
}

const GAPS: &str = "router 10 node 0 router 20\nrouter 20 node 1 router 30\nrouter 30 node 2";

const REBUILT: &str = "fault_model: {rebuild_delay: 10cycles}\n";

fn cut(link: &str) -> String {
    format!("faults: [{{link: {link}, at: 1cycle}}]\n{REBUILT}sweep: {{measure.window: [60000cycles]}}")
}

fn faults(point: &Point) -> Vec<Part> {
    point.spec().expect("good").faults.iter().map(|fault| fault.what).collect()
}

fn share(finished: &Finished) -> f64 {
    finished.summary["delivered_share"].as_f64().expect("packets were measured")
}

#[test]
fn a_fault_names_the_routers_of_the_file() {
    // The broken link divides the routers into {1} and {2, 3, 4}. Of the 12 ordered pairs of routers, the 6 pairs within the second part
    // still have a path.
    let finished = run("one.json", &one_based(), &cut("[1, 2]"));
    // about 0.1 * 4 / 2 * 60,000 = 12,000 packets are sent, so three standard deviations of the share are 0.014
    assert!((share(&finished) - 0.5).abs() < 0.015, "{}", share(&finished));
    assert_eq!(finished.summary["fault_episodes"][0]["failed"], "link 1-2");
    // the routers with the ids 0 and 1 are at positions 3 and 1 of the file. The parts are {0} and {1, 2, 3}, so again 6 of 12 pairs have
    // a path
    let finished = run("order.json", &other_order(), &cut("[0, 1]"));
    assert_eq!(faults(&point("order.json", &other_order(), &cut("[0, 1]"))), [Part::Link([3, 1])]);
    assert!((share(&finished) - 0.5).abs() < 0.015, "{}", share(&finished));
    // the parts are {10} and {20, 30}: 2 of 6 pairs still have a path
    let finished = run("gap.anynet", GAPS, &cut("[10, 20]"));
    assert!((share(&finished) - 1.0 / 3.0).abs() < 0.015, "{}", share(&finished));
    let finished = run("texts.json", &texts(), &cut("[leaf-b, leaf-a]"));
    assert_eq!(finished.summary["fault_episodes"][0]["failed"], "link leaf-b - leaf-a");
    // a numeric id can be written as text in the scenario, and an id that is text can be written as a number
    assert_eq!(faults(&point("one.json", &one_based(), &cut("[\"1\", \"2\"]"))), [Part::Link([0, 1])]);
    let router = format!("faults: [{{router: 7, at: 1cycle}}]\n{REBUILT}");
    assert_eq!(faults(&point("texts.json", &texts(), &router)), [Part::Router(2)]);
}

#[test]
fn a_name_that_the_file_does_not_have_is_refused() {
    let problem = refused("one.json", &one_based(), &cut("[0, 1]"));
    assert_eq!(problem.path, "faults.0.link");
    assert_eq!(problem.what, "there is no router `0` in the graph file, which has 4 routers");
    assert!(problem.help.ends_with("its ids: 1, 2, 3, 4"), "{problem}");
    let problem = refused("texts.json", &texts(), &cut("[leaf_a, leaf-b]"));
    assert!(problem.help.starts_with("did you mean `leaf-a`?"), "{problem}");
    // messages name neighbours by their ids
    let problem = refused("one.json", &one_based(), &cut("[1, 3]"));
    assert_eq!(problem.what, "there is no link between routers 1 and 3");
    assert_eq!(problem.help, "write two neighbours; the neighbours of router 1 are 2");
}

/// The values in a column of the table of channels, only for channels between routers, as JSON.
fn ends(finished: &Finished, name: &str) -> Vec<Value> {
    let columns = finished.channels.part(0, &finished.channels.rows);
    let (_, column) = columns.into_iter().find(|(own, _)| own == name).expect("a column");
    match column {
        Column::MaybeNumbers(cells) => cells.into_iter().map(|cell| json!(cell)).collect(),
        Column::MaybeTexts(cells) => cells.into_iter().map(|cell| json!(cell.as_deref())).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tables_name_the_routers_of_the_file() {
    // the rows of the table: for each router in the order of the file, the channel to its terminal and the channels to its neighbours.
    // The channels from the terminals follow
    let finished = run("order.json", &other_order(), "");
    let from = json!([3, 3, 1, 1, 1, 2, 2, 2, 0, 0, null, null, null, null]);
    let to = json!([null, 2, null, 2, 0, null, 3, 1, null, 1, 3, 1, 2, 0]);
    assert_eq!((json!(ends(&finished, "from_router")), json!(ends(&finished, "to_router"))), (from, to));
    let finished = run("texts.json", &texts(), "");
    assert_eq!(json!(ends(&finished, "from_router")[..3]), json!(["leaf-a", "leaf-a", "leaf-b"]));
    // in a network without names, the table contains router numbers
    let finished = run("gap.anynet", &GAPS.replace("10", "0").replace("20", "1").replace("30", "2"), "");
    assert_eq!(json!(ends(&finished, "from_router")[..3]), json!([0, 0, 1]));
}

#[test]
fn paths_and_lives_name_the_routers_of_the_file() {
    let point = point("texts.json", &texts(), "");
    let explained = point.explain_routing(0, 3).expect("a path");
    assert_eq!((&explained["from"]["router"], &explained["to"]["router"]), (&json!("leaf-a"), &json!("spine")));
    let hops = explained["paths"][0]["hops"].as_array().expect("hops");
    let way: Vec<&Value> = hops.iter().map(|hop| &hop["router"]).collect();
    assert_eq!(way[..3], [&json!("leaf-a"), &json!("leaf-b"), &json!("7")]);
    let how = weft_engine::spec::Execution::new(1, 1);
    let watched = weft_engine::spec::Watched::First(1);
    let finished = point.run_watching(how, watched, &()).unwrap_or_else(|error| panic!("{error}"));
    let text = finished.journeys.to_string();
    assert!(text.contains(r#""router":"leaf-"#) || text.contains(r#""router":"spine""#), "{text}");
    assert!(!text.contains(r#""router":0"#) && !text.contains(r#""next_router":1"#), "{text}");
}

fn groups(text: &str, groups: &str) -> Vec<String> {
    let finished = run("g.json", text, &format!("power: {{groups: {groups}}}"));
    let (_, table) = finished.recorded.iter().find(|(name, _)| *name == "groups").expect("groups");
    let Some(Column::Texts(names)) = table.column("group") else { panic!("no names") };
    let Some(Column::Counts(routers)) = table.column("routers") else { panic!("no routers") };
    names.iter().zip(routers).map(|(name, routers)| format!("{name}: {routers}")).collect()
}

#[test]
fn groups_name_the_routers_of_the_file() {
    assert_eq!(groups(&one_based(), "{by: router}"), ["1: 1", "2: 1", "3: 1", "4: 1"]);
    assert_eq!(groups(&one_based(), "{by: trunk}"), ["1-2: 0", "2-3: 0", "3-4: 0", "(in no group): 4"]);
    assert_eq!(groups(&texts(), "{by: cabinet, cabinets: {A: [leaf-a, 7]}}"), ["A: 2", "(in no group): 2"]);
    // a range is a range of ids, not of positions: [0, 2] contains 0, 1 and 2, at positions 3, 1 and 2 of the file
    assert_eq!(groups(&other_order(), "{by: cabinet, cabinets: {A: [[0, 2]]}}"), ["A: 3", "(in no group): 1"]);
    assert_eq!(groups(&one_based(), "{by: cabinet, routers_per_cabinet: 2}"), ["1-2: 2", "3-4: 2"]);
    let refused = |text: &str, cabinets: &str| {
        refused("g.json", text, &format!("power: {{groups: {{by: cabinet, cabinets: {{A: {cabinets}}}}}}}"))
    };
    let problem = refused(&texts(), "[[leaf-a, leaf-b]]");
    assert_eq!(problem.help, "name each router, such as `A: [leaf0, leaf1]`");
    assert_eq!(problem.path, "power.groups.cabinets.A.0");
    assert!(refused(&one_based(), "[[0, 2]]").what.contains("no router `0`"));
    assert!(refused(&one_based(), "[[3, 2]]").help.contains("write [2, 3]"));
    assert!(refused(&one_based(), "[[1, 2, 3]]").what.contains("length"));
}

#[test]
fn a_job_runs_on_the_routers_of_the_file() {
    let job = |routers: &str| {
        let jobs = format!("[{{name: a, terminals: {{routers: {routers}}}, pattern: uniform, load: 0.1}}]");
        format!("sweep: {{traffic: [{{jobs: {jobs}}}]}}")
    };
    let spec = point("order.json", &other_order(), &job("[0, 3]")).spec().expect("good");
    // terminal 3 is on router 0, the last router of the file, and terminal 0 is on router 3, the first router
    assert_eq!(spec.traffic.jobs[0].terminals[..], [3, 0]);
    let problem = refused("one.json", &one_based(), &job("[1, 0]"));
    assert_eq!(problem.path, "traffic.jobs.0.terminals.routers.1");
    let spine = texts().replace(r#"{"id": "spine", "terminals": 1}"#, r#"{"id": "spine"}"#);
    assert!(refused("texts.json", &spine, &job("[leaf-a, spine]")).what.contains("router spine has no terminals"));
}
