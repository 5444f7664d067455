//! Tests that remedies work: after the settings in the help of a refusal, the next check accepts the scenario.

use crate::refusal::GOOD;
use weft_scenario::{Diagnostic, Point, expand};

type Sets<'a> = &'a [(&'a str, &'a str)];

/// The point of the scenario `GOOD` with these settings, after the checks of `weft check`.
fn checked(sets: Sets) -> Result<Point, Box<Diagnostic>> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let point = expand("bad.yaml", GOOD, &sets)?.remove(0);
    point.check_network()?;
    Ok(point)
}

const TREE: (&str, &str) = ("topology", "{fat_tree: {k: 4}}");
const RING: (&str, &str) = ("topology", "{torus: {widths: [6], terminals_per_router: 2}}");
const TORUS: (&str, &str) = ("topology", "{torus: {widths: [4, 4], terminals_per_router: 2}}");
const UP_DOWN: (&str, &str) = ("routing", "up_down");
const BUBBLE: (&str, &str) = ("routing", "{dimension_order: {dateline: bubble}}");
const ESCAPES: (&str, &str) = ("routing", "minimal_adaptive");
const DRAGONFLY: (&str, &str) =
    ("topology", "{dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}");
const ABSOLUTE: (&str, &str) = ("topology.dragonfly.arrangement", "absolute");
const FIVE_GROUPS: (&str, &str) = ("topology.dragonfly.groups", "5");
const WIRES: (&str, &str) = ("topology.dragonfly.escape_rings", "1");
const OFAR: (&str, &str) = ("routing", "dragonfly_ofar");
const IDLE: (&str, &str) = ("power.policy", "{idle_timeout: {idle: 40cycles, transition: 25cycles}}");

const ALL: (&str, &str) = ("traffic.jobs", "[{name: a, terminals: all}]");
const WIDE: (&str, &str) = ("topology.hyperx.trunk_width", "2");

/// Test cases: settings that are refused, the help, and settings that follow each remedy in the help.
const REMEDIES: &[(Sets, &str, &[Sets])] = &[
    // a policy that does not work with the routing
    (
        &[("power.policy", "tcep")],
        // the help does not name `dal`, because 4 VCs are too few for it
        "set routing: pal, hyperx_ofar or minimal_adaptive, or set power.policy: always_on",
        &[
            &[("routing", "pal")],
            &[("routing", "hyperx_ofar")],
            &[("routing", "minimal_adaptive")],
            &[("power.policy", "always_on")],
            &[("power.policy", "{neighbour_sleep: {idle: 40cycles, transition: 25cycles}}")],
        ],
    ),
    (
        &[("power.policy", "tcep"), ("links.default.vcs", "6")],
        "set routing: pal, dal, hyperx_ofar or minimal_adaptive, or",
        &[&[("routing", "dal")]],
    ),
    (
        &[
            ("power.policy", "{neighbour_sleep: {idle: 40cycles, transition: 25cycles}}"),
            ("power.manages", "[terminal]"),
        ],
        "leave terminal out of manages; all means all links between routers",
        &[&[("power.manages", "all")]],
    ),
    // too few VC classes for detours, and impossible sizes of a projective plane
    (
        &[("routing", "{omniwar: {deroutes: 15}}"), ("links.default.vcs", "16")],
        "write at most 14",
        &[&[("routing.omniwar.deroutes", "14")]],
    ),
    (
        &[("topology", "{polarfly: {q: 6, terminals_per_router: 1}}"), ("routing", "ecmp")],
        "write 5 or 7",
        &[&[("topology.polarfly.q", "5")], &[("topology.polarfly.q", "7")]],
    ),
    (&[("power.policy", "slac")], "set routing: slac, or", &[&[("routing", "slac"), ("power.policy", "slac")]]),
    (&[("power.policy", "slac")], "{idle_timeout: {idle: 40cycles, transition: 25cycles}}", &[&[IDLE]]),
    (
        &[("power.policy", "slac")],
        "{timetable: {off: [{from: 0cycles, until: 40cycles}, {from: 250cycles, until: 400cycles}], period: 600cycles, \
         transition: 15cycles}}",
        &[&[(
            "power.policy",
            "{timetable: {off: [{from: 0cycles, until: 40cycles}, {from: 250cycles, until: 400cycles}], period: \
             600cycles, transition: 15cycles}}",
        )]],
    ),
    // a word or list instead of a model, and a percentage instead of a number
    (
        &[ALL],
        "write `rest`; all models: range, list, routers, random, rest",
        &[&[("traffic.jobs", "[{name: a, terminals: rest}]")]],
    ),
    (
        &[("traffic.jobs", "[{name: a, terminals: [0, 5, 9, 12]}]")],
        "write `{list: [0, 5, 9, 12]}`",
        &[&[("traffic.jobs", "[{name: a, terminals: {list: [0, 5, 9, 12]}}]")]],
    ),
    (
        &[("traffic.jobs", "[{name: a, terminals: [0, 12]}]")],
        "write `{range: [0, 12]}` or `{list: [0, 12]}`",
        &[
            &[("traffic.jobs", "[{name: a, terminals: {range: [0, 12]}}]")],
            &[("traffic.jobs", "[{name: a, terminals: {list: [0, 12]}}]")],
        ],
    ),
    (
        &[("traffic.pattern", "{hot_spot: {targets: [12], share: 7%}}")],
        "write 0.07: Share of the packets",
        &[&[("traffic.pattern.hot_spot.share", "0.07")]],
    ),
    (
        &[("traffic.jobs", "[{name: a, terminals: {range: [0, 8]}, pattern: {hot_spot: {targets: [12]}}}]")],
        "write 0 to 8: positions in the job's list of terminals",
        &[&[("traffic.jobs.0.pattern.hot_spot.targets", "[8]")]],
    ),
    // an escape ring on links that the policy switches off
    (
        &[DRAGONFLY, OFAR, ("power.policy", "tcep"), ("power.manages", "[local]")],
        "give the topology escape_rings: 1, and leave the links of this ring, ring_local and ring_global, out of power.manages",
        &[&[WIRES]],
    ),
    (
        &[
            DRAGONFLY,
            ("routing", "{dragonfly_ofar: {ring: {kind: embedded}}}"),
            ("power.policy", "tcep"),
            ("power.manages", "[local]"),
        ],
        "give the topology escape_rings: 1 and write kind: physical, and leave the links of this ring",
        &[&[WIRES, ("routing", "{dragonfly_ofar: {ring: {kind: physical}}}")]],
    ),
    (
        &[DRAGONFLY, WIRES, OFAR, ("power.policy", "tcep"), ("power.manages", "[local, ring_local]")],
        "leave ring_local and ring_global out of power.manages",
        &[&[("power.manages", "[local]")]],
    ),
    (
        &[("routing", "slac"), IDLE],
        "set power.policy: slac or always_on",
        &[&[("power.policy", "slac")], &[("power.policy", "always_on")]],
    ),
    (
        &[("routing", "pal"), ("power.policy", "static"), ("faults", "[{link: [0, 1], at: 20us}]")],
        "set power.policy: always_on or tcep, or remove the faults",
        &[&[("power.policy", "always_on")], &[("power.policy", "tcep")], &[("faults", "[]")]],
    ),
    (
        // in a ring with a broken link, paths need more VC classes than without the fault
        &[RING, ("routing", "shortest_path"), ("faults", "[{link: [0, 1], at: 20us}]")],
        "or remove the faults",
        &[&[("faults", "[]")], &[("links.default.vcs", "5")]],
    ),
    (
        &[("traffic.reply", "{outstanding: 2}"), ("faults", "[{link: [0, 1], at: 20us}]")],
        "leave `outstanding` out, or remove the faults",
        &[&[("traffic.reply", "{}")], &[("faults", "[]")]],
    ),
    // buffers that are too small
    (
        &[("traffic.packet", "64flits")],
        "write `buffer: 64flits` or more, `traffic.packet: 32flits` or less, or `router.flow_control: wormhole`",
        &[
            &[("links.default.buffer", "64flits")],
            &[("traffic.packet", "32flits")],
            &[("router.flow_control", "wormhole")],
        ],
    ),
    (
        &[TORUS, BUBBLE, ("traffic.packet", "40flits")],
        "write `buffer: 80flits` or more (the routing needs room for two packets), or `traffic.packet: 16flits` or less",
        &[&[("links.default.buffer", "80flits")], &[("traffic.packet", "16flits")]],
    ),
    (
        &[TORUS, ESCAPES, ("traffic.packet", "40flits")],
        "write `buffer: 40flits` or more, or `traffic.packet: 32flits` or less",
        &[&[("links.default.buffer", "40flits")], &[("traffic.packet", "32flits")]],
    ),
    (
        &[("traffic.reply", "{packet: 64flits}")],
        "packets and replies of 32flits or less",
        &[&[("traffic.reply", "{packet: 32flits}")]],
    ),
    // networks without an escape ring for a routing that needs one
    (
        &[DRAGONFLY, ABSOLUTE, OFAR],
        "use arrangement: palm_tree and remove groups, so that the last router of each group has a link to the first \
         router of the next group; or give the ring its own links with escape_rings: 1",
        &[&[("topology.dragonfly.arrangement", "palm_tree")], &[WIRES]],
    ),
    (
        &[DRAGONFLY, FIVE_GROUPS, OFAR],
        "use arrangement: palm_tree and remove groups,",
        &[&[("topology.dragonfly.groups", "null")], &[WIRES]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {ring: {kind: physical}}}")],
        "write kind: embedded, or give the topology escape_rings: 1",
        &[&[("routing.dragonfly_ofar.ring.kind", "embedded")], &[WIRES]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {ring: {rings: 3}}}")],
        "write at most 2",
        &[&[("routing.dragonfly_ofar.ring.rings", "2")]],
    ),
    (
        &[DRAGONFLY, WIRES, ("routing", "{dragonfly_ofar: {ring: {rings: 2}}}")],
        "write rings: 1, or kind: embedded",
        &[&[("routing.dragonfly_ofar.ring.rings", "1")], &[("routing.dragonfly_ofar.ring.kind", "embedded")]],
    ),
    (
        &[DRAGONFLY, WIRES, ("routing", "{dragonfly_ofar: {ring: {vcs: 2}}}")],
        "write vcs: 1, or kind: embedded",
        &[&[("routing.dragonfly_ofar.ring.vcs", "1")], &[("routing.dragonfly_ofar.ring.kind", "embedded")]],
    ),
    (
        &[DRAGONFLY, OFAR, ("traffic.packet", "8flits"), ("links.default.buffer", "8flits")],
        "set buffer to at least 16flits, or choose a routing (or dateline) without bubbles",
        &[&[("links.default.buffer", "16flits")], &[("routing", "dragonfly_minimal")]],
    ),
    (
        &[DRAGONFLY, WIRES, OFAR, ("links.ring_global", "{buffer: 1flit}")],
        "set buffer to at least 2flits",
        &[&[("links.ring_global.buffer", "2flits")]],
    ),
    (&[DRAGONFLY, OFAR, ("links.local.vcs", "1")], "at least 2", &[&[("links.local.vcs", "2")]]),
    (
        &[DRAGONFLY, OFAR, ("traffic.packet", "4flits"), ("router.flow_control", "wormhole")],
        "write router.flow_control: virtual_cut_through",
        &[&[("router.flow_control", "virtual_cut_through")]],
    ),
    (
        &[DRAGONFLY, OFAR, ("traffic.reply", "{packet: 4flits}")],
        "give all packets and replies the same length",
        &[&[("traffic.packet", "4flits")]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {least_occupancy: 1.5}}")],
        "write 0 to 1",
        &[&[("routing.dragonfly_ofar.least_occupancy", "0")], &[("routing.dragonfly_ofar.least_occupancy", "1")]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {most_occupancy: {fixed: -0.1}}}")],
        "write 0 to 1",
        &[&[("routing.dragonfly_ofar.most_occupancy.fixed", "0.1")]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {injection: {escape_occupancy: {most: 2}}}}")],
        "write 0 to 1",
        &[&[("routing.dragonfly_ofar.injection.escape_occupancy.most", "0.5")]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {ring: {directions: 3}}}")],
        "write 1 to 2",
        &[&[("routing.dragonfly_ofar.ring.directions", "1")], &[("routing.dragonfly_ofar.ring.directions", "2")]],
    ),
    (
        &[DRAGONFLY, ("routing", "{dragonfly_ofar: {ring: {exits: 255}}}")],
        "write 0 to 254",
        &[&[("routing.dragonfly_ofar.ring.exits", "0")], &[("routing.dragonfly_ofar.ring.exits", "254")]],
    ),
    (&[OFAR], "or a topology that suits dragonfly_ofar: dragonfly", &[&[DRAGONFLY]]),
    (
        &[DRAGONFLY, ("topology.dragonfly.trunk_width", "2"), OFAR],
        "write topology.dragonfly.trunk_width: 1, or choose dragonfly_minimal,",
        &[&[("topology.dragonfly.trunk_width", "1")], &[("routing", "dragonfly_minimal")]],
    ),
    (
        &[("routing", "{hyperx_ofar: {ring: {kind: physical}}}")],
        "write kind: embedded",
        &[&[("routing.hyperx_ofar.ring.kind", "embedded")]],
    ),
    (
        &[("routing", "{hyperx_ofar: {ring: {rings: 4}}}")],
        "write at most 3",
        &[&[("routing.hyperx_ofar.ring.rings", "3")]],
    ),
    (&[("routing", "hyperx_ofar"), ("links.dim0.vcs", "1")], "at least 2", &[&[("links.dim0.vcs", "2")]]),
    (
        &[WIDE, ("routing", "hyperx_ofar")],
        "write topology.hyperx.trunk_width: 1, or choose dimension_order,",
        &[&[("topology.hyperx.trunk_width", "1")], &[("routing", "dimension_order")]],
    ),
    (
        &[DRAGONFLY, ("routing", "hyperx_ofar")],
        "or a topology that suits hyperx_ofar: hyperx, full_mesh",
        &[
            &[("topology", "{hyperx: {widths: [4, 4], terminals_per_router: 2}}")],
            &[("topology", "{full_mesh: {routers: 4, terminals_per_router: 2}}")],
        ],
    ),
    // failing links of only one class
    (
        &[DRAGONFLY, WIRES, OFAR, ("faults", "[{link: [0, 1], class: global, at: 20us}]")],
        "write class: local or ring_local, or remove `class`",
        &[
            &[("faults.0.class", "local")],
            &[("faults.0.class", "ring_local")],
            &[("faults", "[{link: [0, 1], at: 20us}]")],
        ],
    ),
    (
        &[DRAGONFLY, WIRES, OFAR, ("faults", "[{link: [0, 1], class: ring_locale, at: 20us}]")],
        "did you mean `ring_local`? its link classes: local, global, ring_local, ring_global",
        &[&[("faults.0.class", "ring_local")]],
    ),
    (
        &[DRAGONFLY, OFAR, ("faults", "[{router: 1, class: local, at: 20us}]")],
        "leave class out, or write link: [0, 1]",
        &[&[("faults", "[{router: 1, at: 20us}]")], &[("faults", "[{link: [0, 1], class: local, at: 20us}]")]],
    ),
    (
        &[("routing", "pal"), ("power.policy", "tcep"), ("faults", "[{link: [0, 1], class: dim1, at: 20us}]")],
        "write class: dim0, or remove `class`",
        &[&[("faults.0.class", "dim0")], &[("faults", "[{link: [0, 1], at: 20us}]")]],
    ),
    // link classes that the policy does not switch
    (
        &[("power.manages", "[terminal, dim0]"), ("power.policy", "tcep"), ("routing", "pal")],
        "leave terminal out of manages",
        &[&[("power.manages", "all")], &[("power.manages", "[dim0]")]],
    ),
    // trunks that a policy or routing does not accept
    (
        &[WIDE, ("routing", "pal")],
        "write topology.hyperx.trunk_width: 1, or choose dimension_order, minimal,",
        &[&[("topology.hyperx.trunk_width", "1")], &[("routing", "dimension_order")], &[("routing", "minimal")]],
    ),
    (
        &[WIDE, ("power.policy", "{static: {}}")],
        "write topology.hyperx.trunk_width: 1, at least for the link classes that the policy manages",
        &[&[("topology.hyperx.trunk_width", "1"), ("routing", "pal")]],
    ),
    (
        &[WIDE, ("routing", "slac"), ("power.policy", "slac")],
        "write topology.hyperx.trunk_width: 1",
        &[&[("topology.hyperx.trunk_width", "1")]],
    ),
    (&[("topology.hyperx.trunk_width", "0")], "write 1 or more", &[&[("topology.hyperx.trunk_width", "1")]]),
    (
        &[("topology.hyperx.trunk_width", "{dim0: 2, global: 2}")],
        "name one of: dim0, dim1",
        &[&[("topology.hyperx.trunk_width", "{dim0: 2, dim1: 2}")]],
    ),
    (
        &[("topology.hyperx.trunk_width", "{dim0: 300}")],
        "write smaller numbers",
        &[&[("topology.hyperx.trunk_width", "{dim0: 7}")]],
    ),
    // times that are too short, or not a whole number of cycles
    (&[("measure.window", "0cycles")], "write 10cycles or more", &[&[("measure.window", "10cycles")]]),
    (&[("measure.window", "8ns")], "write 16ns or more", &[&[("measure.window", "16ns")]]),
    (&[("measure.batches", "1")], "write 2 to 1000", &[&[("measure.batches", "2")], &[("measure.batches", "1000")]]),
    (
        &[("traffic.batch", "{per_terminal: 5}"), ("measure.stop", "{complete: {max_window: 3cycles}}")],
        "write 10cycles or more",
        &[&[("measure.stop", "{complete: {max_window: 10cycles}}")]],
    ),
    (
        &[("measure.warmup", "atuo")],
        "did you mean `auto`? write `auto`, or a time such as 10us or 10000cycles",
        &[&[("measure.warmup", "auto")], &[("measure.warmup", "10us")], &[("measure.warmup", "10000cycles")]],
    ),
    (&[("links.default.latency", "1ns")], "write 1.6ns", &[&[("links.default.latency", "1.6ns")]]),
    (
        &[("traffic.phases", "[{from: 1s, load: 0.2}]")],
        "write less than 30000cycles, or a longer measure.window",
        &[
            &[("traffic.phases", "[{from: 29999cycles, load: 0.2}]")],
            &[("measure.window", "2s"), ("measure.drain_limit", "1ms")],
        ],
    ),
    (
        &[("traffic.phases", "[{from: 20us, load: 0.2}]"), ("measure.warmup", "auto")],
        "write a time without `warmup_limit`, such as 10000cycles, or leave the phases out",
        &[&[("measure.warmup", "10000cycles")], &[("traffic.phases", "[]")]],
    ),
    // names that are not allowed
    (&[("name", "a/b")], "such as my-study", &[&[("name", "my-study")]]),
    (&[("name", "\"\"")], "such as my-study", &[&[("name", "my-study")]]),
];

#[test]
fn what_a_refusal_says_to_write_passes_the_next_check() {
    for (bad, words, remedies) in REMEDIES {
        let error = checked(bad).expect_err(words);
        assert!(error.help.contains(words), "{bad:?}: the help is: {}", error.help);
        for remedy in *remedies {
            let both: Vec<_> = [bad, *remedy].concat();
            checked(&both).unwrap_or_else(|error| panic!("{remedy:?} after {bad:?}: {error}"));
        }
    }
}

/// If the policy does not work on the network, this error is reported before missing prices, because prices would not help.
#[test]
fn what_a_policy_needs_of_the_network_is_reported_before_its_prices() {
    let price = "{static: 1W, per_bit: 1pJ/bit}";
    let prices = format!("{{on: {price}, draining: {price}, waking: {price}, off: {price}}}");
    let tree =
        checked(&[TREE, UP_DOWN, ("power.policy", "tcep"), ("power.prices", &prices)]).expect_err("no subnetworks");
    let help = "choose a topology that has such routers";
    assert!(tree.help.contains(help) && !tree.to_string().contains("shadow"), "{tree}");
    let grid =
        checked(&[("routing", "pal"), ("power.policy", "tcep"), ("power.prices", &prices)]).expect_err("no price");
    assert!(grid.help.contains("add `shadow:"), "{grid}");
}

/// The help does not propose remedies that the next check would refuse.
#[test]
fn what_would_be_refused_next_is_not_a_remedy() {
    for (bad, words) in [
        (&[TREE, UP_DOWN, ("power.policy", "tcep")][..], "pal"),
        (&[TORUS, BUBBLE, ("traffic.packet", "40flits")], "wormhole"),
        (&[TORUS, ESCAPES, ("traffic.packet", "40flits")], "wormhole"),
    ] {
        let error = checked(bad).expect_err("bad");
        assert!(!error.help.contains(words), "{bad:?}: {}", error.help);
    }
}

/// `planes` makes copies of a topology. The copies have a property only if the topology has it, so a remedy must not
/// propose `planes`.
#[test]
fn planes_are_no_remedy_for_the_topology_of_a_plane() {
    for plane in ["{fat_tree: {k: 4}}", "{k_ary_n_tree: {k: 2, n: 3}}"] {
        let planes = format!("{{planes: {{count: 2, of: {plane}}}}}");
        let of = |topology| [("topology", topology), UP_DOWN, ("power.policy", "tcep")];
        let error = checked(&of(&planes)).expect_err("no subnetworks");
        assert!(error.help.ends_with("such routers: hyperx, dragonfly, full_mesh"), "{error}");
        let error = checked(&[("topology", &planes), ("routing", "pal")]).expect_err("no grid");
        assert!(error.help.ends_with("that suits pal: single_router, hyperx, dragonfly, full_mesh"), "{error}");
    }
    let grid = "{planes: {count: 2, of: {hyperx: {widths: [4], terminals_per_router: 2}}}}";
    checked(&[("topology", grid), ("routing", "pal"), ("power.policy", "tcep")]).expect("planes of such a topology");
}

/// A help names only policies that are accepted, also in a scenario with faults.
#[test]
fn policies_that_can_not_bear_the_faults_are_not_a_remedy() {
    let fault = ("faults", "[{link: [0, 1], at: 20us}]");
    let sleeps = ("power.policy", "{neighbour_sleep: {idle: 40cycles, transition: 25cycles}}");
    for bad in [vec![sleeps, fault], vec![("routing", "pal"), ("power.policy", "slac"), fault]] {
        let error = checked(&bad).expect_err("refused");
        assert!(error.help.contains("set power.policy: ") && !error.help.contains("neighbour_sleep"), "{error}");
        for name in ["always_on", "static", "fewest_links", "tcep", "rate_ladder"] {
            let accepted = checked(&[bad.clone(), vec![("power.policy", name)]].concat()).is_ok();
            let named = error.help.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            assert!(accepted || !named, "{name} after {bad:?}: {error}");
        }
    }
}

#[test]
fn all_link_classes_are_those_that_can_sleep() {
    let managed =
        |sets: Sets| checked(sets).unwrap_or_else(|error| panic!("{error}")).resolved["power"]["manages"].clone();
    assert_eq!(managed(&[("power.manages", "all"), IDLE]), serde_json::json!(["dim0", "dim1"]));
    assert_eq!(managed(&[("power.manages", "all")]), managed(&[]));
    // `all` does not include links of terminals, so they are managed only if they are also named
    let named = managed(&[("power.manages", "[all, terminal]"), IDLE]);
    assert_eq!(named, serde_json::json!(["terminal", "dim0", "dim1"]));
}

#[test]
fn a_list_of_values_for_one_value_is_a_sweep() {
    for (path, values) in [
        ("traffic.load", "[0.1, 0.2]"),
        ("routing", "[{ugal_p: {threshold: 2flits}}, minimal]"),
        ("router.priority", "[age]"),
    ] {
        let error = checked(&[(path, values)]).expect_err("a list");
        assert!(error.help.contains(&format!("--set 'sweep.{path}={values}'")), "{}", error.help);
        assert!(error.help.contains(&format!("`sweep: {{{path}: {values}}}`")), "{}", error.help);
        checked(&[(&format!("sweep.{path}"), values)]).unwrap_or_else(|error| panic!("{error}"));
    }
    let inside = checked(&[("sweep.zip", "{traffic.load: [0.1, 0.2]}")]).expect_err("zip in sweep");
    assert!(inside.help.contains("--set 'zip.traffic.load=[0.1, 0.2]'"), "{inside}");
    assert!(checked(&[("zip.traffic.load", "[0.1, 0.2]")]).is_ok());
    let one = checked(&[("sweep.traffic.load", "0.1")]).expect_err("no list");
    assert!(one.help.contains("write `traffic.load: [0.1]`"), "{one}");
}

/// An override can add an element to a list by its index, and can remove a value.
#[test]
fn an_override_adds_to_a_list_and_takes_away() {
    let fault = [("power.policy", "tcep"), ("routing", "pal"), ("faults.0.link", "[0, 1]"), ("faults.0.at", "20us")];
    assert_eq!(checked(&fault).expect("a fault of its own").resolved["faults"][0]["link"], serde_json::json!([0, 1]));
    let none = checked(&[("faults", "[]")]).expect("good");
    for last in [("faults.0", "null"), ("faults", "null"), ("faults", "~")] {
        let sets: Vec<_> = fault[2..].iter().copied().chain([last]).collect();
        assert_eq!(checked(&sets).expect("taken away").hash, none.hash, "{last:?}");
    }
    let beyond = checked(&[("faults.1.at", "20us")]).expect_err("there is no first one");
    assert_eq!(beyond.help, "the list is empty; `faults.0` adds an element");
    let many: Vec<_> = fault.iter().copied().chain([("faults.3", "null")]).collect();
    let help = checked(&many).expect_err("no such element").help;
    assert_eq!(help, "`faults.0` is its only element, and `faults.1` adds one");
    let count = |sets: Sets| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        expand("bad.yaml", &format!("{GOOD}sweep: {{traffic.load: [0.1, 0.2]}}\n"), &sets)
            .map(|points| points.len())
            .map_err(Box::new)
    };
    assert_eq!(count(&[]), Ok(2));
    for set in [("sweep", "null"), ("sweep.traffic.load", "null"), ("sweep", "{seed: [7]}"), ("zip", "null")] {
        assert_eq!(count(&[set]), Ok(if set.0 == "zip" { 2 } else { 1 }), "{set:?}");
    }
    let help = count(&[("sweep", "3")]).expect_err("no sweep").help;
    assert_eq!(help, "write --set 'sweep.traffic.load=[0.1, 0.2]', or --set sweep=null");
    // it is an error to set a value that the sweep would replace
    let swept = count(&[("sweep.routing", "[ugal_p, minimal]"), ("routing.ugal_p.threshold", "3flits")]);
    assert!(swept.expect_err("replaced").what.starts_with("`routing` is swept"));
}

#[test]
fn a_value_where_a_list_belongs_is_refused_with_what_an_element_is() {
    let help = checked(&[("traffic.loads", "3")]).expect_err("no list").help;
    let words = "did you mean `traffic.load`? `traffic.loads` is a list, [{terminals: ..., load: ...}, ...]: ";
    assert!(help.starts_with(words), "{help}");
    // `faults:` without a value is an empty list
    let empty = expand("bad.yaml", &format!("{GOOD}faults:\n"), &[]).expect("no faults");
    assert_eq!(empty[0].hash, checked(&[]).expect("good").hash);
}

/// A note in an error names the values of the other swept keys as YAML, in the form that a scenario uses.
#[test]
fn a_note_names_models_as_yaml() {
    let sets = [("sweep.routing", "[{ugal_p: {threshold: 2flits}}]"), ("power.policy", "tcep")];
    let error = checked(&sets).expect_err("no pair");
    assert!(error.text.contains("in the point where `routing` is {ugal_p: {threshold: 2flits}}"), "{error}");
}

#[test]
fn a_key_at_the_wrong_level_is_refused_with_where_it_belongs() {
    for (path, value, place) in [
        ("load", "0.2", "`load` belongs under `traffic`: did you mean `traffic.load`? the keys of a scenario: "),
        ("vcs", "4", "`vcs` belongs under `links.default`: did you mean `links.default.vcs`?"),
        ("links.vcs", "4", "`vcs` belongs under `links.default`: did you mean `links.default.vcs`?"),
        (
            "traffic.workload.programs.program.collective.algorithm",
            "ring",
            "did you mean `traffic.workload.programs.collectives.algorithms`? the keys of ",
        ),
        (
            "traffic.warmup",
            "1us",
            "`warmup` belongs under `measure`: did you mean `measure.warmup`? the keys of `traffic`: ",
        ),
        (
            "measure.threshold",
            "1flit",
            "`threshold` belongs under `routing.ugal` or `routing.ugal_p` or `routing.pal`: did you mean \
             `routing.ugal.threshold` or `routing.ugal_p.threshold` or `routing.pal.threshold`?",
        ),
    ] {
        let error = checked(&[(path, value)]).expect_err(path);
        assert!(error.help.contains(place), "{path}: {error}");
    }
    let text = GOOD.replace("routing: ugal_p", "routing: ugal_p\nload: 0.2");
    let error = expand("bad.yaml", &text, &[]).expect_err("at the top");
    assert!(error.help.contains("did you mean `traffic.load`? the keys of a scenario: "), "{error}");
}

/// Users write the terminals of a job next to its traffic, or call them its placement.
#[test]
fn the_terminals_of_a_job_at_a_wrong_place_are_refused_with_the_right_place() {
    for (path, places) in [
        ("traffic.terminals", &["`terminals` belongs under", "`traffic.jobs.N.terminals`"][..]),
        ("traffic.workload.terminals", &["`traffic.jobs.N.terminals`", "the models of `traffic.workload`: "]),
        ("traffic.workload.programs.terminals", &["`terminals` belongs under", "`traffic.jobs.N.terminals`"]),
        ("traffic.placement", &["`traffic.jobs.N.terminals`", "`traffic.workload.scheduler.placement`"]),
        ("traffic.workload.programs.placement", &["`traffic.jobs.N.terminals`"]),
        ("placement", &["`traffic.jobs.N.terminals`", "`traffic.workload.scheduler.placement`"]),
    ] {
        let error = checked(&[(path, "{range: [0, 3]}")]).expect_err(path);
        places.iter().for_each(|part| assert!(error.help.contains(part), "{path}: {error}"));
        assert!(!error.help.contains("topology."), "{path}: {error}");
    }
    let in_job = |key: &str| format!("[{{name: a, terminals: rest, workload: {{programs: {{{key}: all}}}}}}]");
    let error = checked(&[("traffic.jobs", &in_job("terminals"))]).expect_err("in a job");
    assert!(error.help.contains("did you mean `traffic.jobs.0.terminals`?"), "{error}");
    // the workload has a key next to the model. The error does not treat this key as a second model
    let beside = [("traffic.workload", "{terminals: {range: [0, 3]}, open_loop: {}}")];
    let error = checked(&beside).expect_err("a key next to the model");
    assert_eq!(
        (&*error.path, &*error.what),
        ("traffic.workload.terminals", "unknown key `terminals` next to the model")
    );
    assert!(error.help.contains("`traffic.jobs.N.terminals`? write one of: open_loop, "), "{error}");
    let two = checked(&[("traffic.workload", "{open_loop: {}, programs: {}}")]).expect_err("two models");
    assert!(two.what.contains("2 models are given"), "{two}");
    checked(&[("traffic.jobs", "[{name: a, terminals: {range: [0, 3]}}]")]).expect("the right place");
}

/// A preset is a word without keys. If the user writes a mapping instead, the error names the keys that the word sets, and
/// their section.
#[test]
fn a_mapping_in_the_place_of_a_word_is_refused_with_the_keys_that_the_word_sets() {
    let program = "{programs: {program: {compute: {ranks: 2, time: 1us}}}}";
    let text = GOOD.replace("pattern: uniform", &format!("workload: {program}")).replace("  load: 0.3\n", "");
    let checked = |path: &str, value: &str| {
        let points = expand("bad.yaml", &text, &[(format!("traffic.workload.programs.{path}"), value.to_owned())]);
        points.map(|points| points.len()).map_err(Box::new)
    };
    let presets = "write one of: tcep, torus_on_off, accelerator400g. ";
    let keys = "the keys `overhead`, `injection_latency`, `local_latency`, `local_bandwidth` and `rail_choice`";
    let link = "the bandwidth of an interface is that of its link, `links.terminal.bandwidth`";
    for (path, value) in [("interface", "{bandwidth: 400Gb/s}"), ("interface.bandwidth", "400Gb/s")] {
        let help = checked(path, value).expect_err("no key").help;
        for part in [keys, link, "tcep, torus_on_off, accelerator400g"] {
            assert!(help.to_lowercase().contains(&part.to_lowercase()), "{path}: {help}");
        }
    }
    let help = checked("interface", "{overhead: 1us}").expect_err("no key").help;
    let section =
        "`overhead` is a key of `traffic.workload.programs`: did you mean `traffic.workload.programs.overhead`? ";
    assert!(help.starts_with(&format!("{section}{presets}")), "{help}");
    assert_eq!(checked("overhead", "1us"), Ok(1));
}

#[test]
fn an_inherited_key_of_a_job_is_blamed_where_it_is_written() {
    let jobs =
        ("traffic.jobs", "[{name: a, terminals: {range: [0, 7]}, packet: 2flits}, {name: b, terminals: {rest: {}}}]");
    let text = GOOD.replace("  load: 0.3", "  load: 0.3\n  packet: 65536flits");
    let error = expand("bad.yaml", &text, &[(jobs.0.to_owned(), jobs.1.to_owned())]).expect_err("too long").text;
    for part in ["bad.yaml:12:11", "`traffic.jobs.1` has the `packet` of `traffic`"] {
        assert!(error.contains(part), "{part} is not in:\n{error}");
    }
}

#[test]
fn values_of_another_kind_are_reported_as_expected_and_found() {
    for (path, value, what) in [
        ("seed", "x", "expected a whole number from 0 to 18446744073709551615, found the text \"x\""),
        ("seed", "-1", "expected a whole number from 0 to 18446744073709551615, found the value -1"),
        ("traffic.load", "1e308", "a load of 1e308 is 1e308 flits per cycle and terminal"),
        ("traffic.load", "-1e308", "a load of -1e308 is below 0"),
        ("traffic.load", "{a: 1}", "expected a number, found a mapping"),
        ("topology.hyperx.widths", "[4, x]", "expected a whole number from 0 to 4294967295, found the text \"x\""),
        ("traffic.phases", "3", "expected a list, found the value 3"),
        ("links.default.latency", "true", "expected a time such as \"10us\", found the value true"),
        ("router.hold_switch", "2", "expected true or false, found the value 2"),
        ("router.flow_control", "{a: 1}", "expected a word, found a mapping"),
        ("traffic.batch", "10", "expected one name, with or without parameters, found the value 10"),
        ("measure.stall_limit", "0cycles", "every network counts as stalled"),
        ("measure.series.every", "0cycles", "expected a time above 0, found 0 cycles"),
    ] {
        let error = checked(&[(path, value)]).expect_err(path);
        assert!(error.what.contains(what) && !error.help.is_empty(), "{path}: {error}");
    }
}
