//! The network as data for a drawing.

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
    // 6 routers of degree 1 + 2, 2 terminals each: 6 * 3 + 2 * 12 channels
    let grid = network("{hyperx: {widths: [2, 3], terminals_per_router: 2}}", "minimal");
    assert_eq!((&grid["kind"], &grid["widths"], &grid["wraps"]), (&json!("grid"), &json!([2, 3]), &json!(false)));
    assert_eq!(grid["routers"], json!([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2], [1, 2]]));
    assert_eq!((&grid["topology"], &grid["channels"], &grid["names"]), (&json!("hyperx"), &json!(42), &json!(null)));
    let torus = network("{torus: {widths: [4], terminals_per_router: 1}}", "dimension_order");
    assert_eq!((&torus["wraps"], &torus["channels"]), (&json!(true), &json!(4 * 2 + 2 * 4)));
    let mesh = network("{mesh: {widths: [4], terminals_per_router: 1}}", "dimension_order");
    assert_eq!((&mesh["wraps"], &mesh["channels"]), (&json!(false), &json!(3 * 2 + 2 * 4)));

    let dragonfly = "{dragonfly: {routers_per_group: 2, terminals_per_router: 1, global_links_per_router: 1}}";
    let groups = network(dragonfly, "dragonfly_minimal");
    assert_eq!(groups["kind"], "groups");
    assert_eq!(groups["routers"], json!([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]));

    let levels = network("{fat_tree: {k: 2}}", "up_down");
    // 2 pods of 1 edge and 1 aggregation router, 1 core
    assert_eq!(
        (&levels["kind"], &levels["routers"]),
        (&json!("levels"), &json!([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]))
    );
    let graph = network("{graph: {file: ring.anynet}}", "shortest_path");
    assert_eq!((&graph["kind"], &graph["routers"], &graph["channels"]), (&json!("graph"), &json!([]), &json!(12)));
}
