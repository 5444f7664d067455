//! Tests paths of `dragonfly_valiant` whose intermediate is a router of another group.

use weft_engine::{Spec, imply};

/// Mean number of hops from each group to the next, in the dragonfly with 72 terminals.
fn hops(routing: &str) -> f64 {
    let topology =
        r#"{"dragonfly": {"terminals_per_router": 2, "routers_per_group": 4, "global_links_per_router": 2}}"#;
    let routing = serde_json::from_str(&format!(r#"{{"dragonfly_valiant": {routing}}}"#)).unwrap();
    let mut spec = Spec::new(&serde_json::from_str(topology).unwrap(), routing).unwrap();
    spec.set_pattern(&serde_json::from_str(r#"{"group_shift": {"shift": 1}}"#).unwrap()).unwrap();
    imply(&spec).unwrap().mean_hops.unwrap()
}

#[test]
fn packets_that_meet_their_destination_end_there_on_demand() {
    // A packet can visit its destination router on the way to its intermediate only in one case. The intermediate is one of the 3 other
    // routers of the destination group (of 36 possible intermediates), and the packet enters the group at the destination router (one of
    // 4). Early exit then saves a hop to the intermediate and a hop back.
    let spared = hops(r#"{"intermediate": "router"}"#) - hops(r#"{"intermediate": "router", "early_exit": true}"#);
    assert!((spared - 3.0 / 36.0 / 4.0 * 2.0).abs() < 1e-9, "{spared}");
    // early exit changes nothing here, because the first router of a group is never a destination on the way to another group
    assert_eq!(hops("{}"), hops(r#"{"early_exit": true}"#));
}
