//! Tests of the data for a drawing of the network.

use serde_json::{Value, json};
use weft_scenario::expand_with;

fn network(topology: &str, routing: &str) -> Value {
    let text = format!("topology: {topology}\nrouting: {routing}\ntraffic: {{pattern: uniform, load: 0.1}}\n");
    let ring = b"router 0 node 0 router 1\nrouter 1 node 1 router 2\nrouter 2 node 2 router 0\n".to_vec();
    let points = expand_with("a.yaml", &text, &[], vec![("ring.anynet".to_owned(), ring)]);
    points.unwrap_or_else(|error| panic!("{error}"))[0].network().expect("a network")
}

#[test]
fn routers_have_the_coordinates_of_their_kind() {
    // each of 6 routers has 1 + 2 ports to other routers and 2 terminals, so there are 6 * 3 + 2 * 12 channels
    let grid = network("{hyperx: {widths: [2, 3], terminals_per_router: 2}}", "minimal");
    assert_eq!((&grid["kind"], &grid["widths"], &grid["wraps"]), (&json!("grid"), &json!([2, 3]), &json!(false)));
    assert_eq!(grid["routers"], json!([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]));
    assert_eq!((&grid["topology"], &grid["channels"], &grid["names"]), (&json!("hyperx"), &json!(42), &json!(null)));
    let torus = network("{torus: {widths: [4], terminals_per_router: 1}}", "dimension_order");
    assert_eq!((&torus["wraps"], &torus["channels"]), (&json!(true), &json!(4 * 2 + 2 * 4)));
    let mesh = network("{mesh: {widths: [4], terminals_per_router: 1}}", "dimension_order");
    assert_eq!((&mesh["wraps"], &mesh["channels"]), (&json!(false), &json!(3 * 2 + 2 * 4)));

    let full = network("{full_mesh: {routers: 4, terminals_per_router: 1}}", "minimal");
    assert_eq!((&full["kind"], &full["widths"]), (&json!("grid"), &json!([4])));
    let complete = [&grid, &full, &torus, &mesh].map(|each| each["complete"] == json!(true));
    assert_eq!(complete, [true, true, false, false]);

    let dragonfly = "{dragonfly: {routers_per_group: 2, terminals_per_router: 1, global_links_per_router: 1}}";
    let groups = network(dragonfly, "dragonfly_minimal");
    assert_eq!(groups["kind"], "groups");
    assert_eq!(groups["routers"], json!([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]));

    // the network has 2 groups with 2 leaves and 1 spine each
    let plus = "{dragonfly_plus: {leaves_per_group: 2, spines_per_group: 1, terminals_per_leaf: 1, \
                global_links_per_spine: 1}}";
    let plus = network(plus, "shortest_path");
    assert_eq!(plus["kind"], "groups");
    assert_eq!(plus["routers"], json!([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]));
    assert_eq!((&plus["levels"], &groups["levels"]), (&json!([0, 0, 1, 0, 0, 1]), &json!(null)));

    let flex = network("{flex: {widths: [3, 2], layers: 3, terminals_per_router: 1}}", "shortest_path");
    assert_eq!((&flex["kind"], &flex["widths"], &flex["complete"]), (&json!("grid"), &json!([3, 2, 3]), &json!(false)));
    // in layers of 3 x 2 routers, router 10 has the coordinates (1, 1, 1): 10 = 1 + 3 * 1 + 6 * 1
    assert_eq!((&flex["routers"][10], &flex["wraps"]), (&json!([1, 1, 1]), &json!(false)));

    let levels = network("{fat_tree: {k: 2}}", "up_down");
    // the tree has 2 pods with 1 edge router and 1 aggregation router each, and 1 core router
    assert_eq!(
        (&levels["kind"], &levels["routers"]),
        (&json!("levels"), &json!([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]))
    );
    let graph = network("{graph: {file: ring.anynet}}", "shortest_path");
    assert_eq!((&graph["kind"], &graph["routers"], &graph["channels"]), (&json!("graph"), &json!([]), &json!(12)));
}

/// The traffic matrix of a scenario with this traffic: flits per cycle from each router to each router.
fn matrix(topology: &str, traffic: &str) -> Vec<Vec<f64>> {
    let text = format!("topology: {topology}\nrouting: dimension_order\ntraffic: {traffic}\n");
    let points = expand_with("a.yaml", &text, &[], Vec::new()).unwrap_or_else(|error| panic!("{error}"));
    points[0].traffic_matrix().expect("a matrix")
}

#[track_caller]
fn assert_near(matrix: &[Vec<f64>], expected: &[[f64; 3]]) {
    for (row, wanted) in matrix.iter().zip(expected) {
        assert!(row.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{matrix:?}, expected {expected:?}");
    }
    assert_eq!(matrix.len(), expected.len());
}

#[test]
fn a_traffic_matrix_has_the_rates_of_the_pattern() {
    let three = "{hyperx: {widths: [3], terminals_per_router: 2}}";
    // each of the 2 terminals of a router sends 0.3 flits per cycle to 5 other terminals. The terminal's own router has one of them,
    // and each other router has 2
    let (own, other) = (2.0 * 0.3 / 5.0, 2.0 * 0.3 * 2.0 / 5.0);
    let uniform = [[own, other, other], [other, own, other], [other, other, own]];
    assert_near(&matrix(three, "{pattern: uniform, load: 0.3}"), &uniform);

    // The first job has the first terminal of router 0 and the two terminals of router 1. Each of these terminals sends 0.3 flits per
    // cycle to the 2 others. The second job has the two terminals of router 2, which send 0.2 flits per cycle to each other.
    let jobs = "{jobs: [\
        {name: a, terminals: {list: [0, 2, 3]}, pattern: uniform, load: 0.3}, \
        {name: b, terminals: {list: [4, 5]}, pattern: uniform, load: 0.2, packet: 4flits}]}";
    let apart = [[0.0, 0.3, 0.0], [0.3, 0.3, 0.0], [0.0, 0.0, 0.4]];
    assert_near(&matrix(three, jobs), &apart);

    // if the load has phases, the matrix shows the first phase
    let later = "{pattern: tornado, load: 0.1, phases: [{from: 100cycles, load: 0.9}]}";
    // each router sends its load of 2 * 0.1 to the router that is (ceil(3 / 2) - 1) = 1 ahead
    let ahead = [[0.0, 0.2, 0.0], [0.0, 0.0, 0.2], [0.2, 0.0, 0.0]];
    assert_near(&matrix(three, later), &ahead);
}

#[test]
fn a_traffic_matrix_without_end_is_refused() {
    let text = "topology: {hyperx: {widths: [65, 64], terminals_per_router: 1}}\nrouting: dimension_order\n\
                traffic: {pattern: uniform, load: 0.1}\n";
    let points = expand_with("a.yaml", text, &[], Vec::new()).unwrap_or_else(|error| panic!("{error}"));
    let refused = points[0].traffic_matrix().expect_err("4160 routers").to_string();
    assert!(refused.contains("4160 x 4160 routers has 17305600 entries"), "{refused}");
    assert!(refused.contains("at most 4096 routers"), "{refused}");
}
