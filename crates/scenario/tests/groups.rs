//! Tests of sleeping routers and of the energy accounts of groups. On idle trees the energies equal values computed by hand, and under load
//! the groups add up exactly.

use crate::refusal::refused_in;
use serde_json::Value;
use weft_engine::recording::{Column, Table};
use weft_engine::spec::Execution;
use weft_scenario::{Finished, Point, expand};
use weft_units::fj_text;

/// A tree: leaves 0 and 1 with two terminals each, and spines 2 and 3; 4 links join leaves and spines. A flit has 10 bits and a cycle lasts
/// 1 ns, so a microwatt is a femtojoule per cycle.
const TREE: &str = "\
flit: 10b
topology: {k_ary_n_tree: {k: 2, n: 2}}
routing: up_down
traffic: {pattern: uniform, load: 0.01}
power:
  policy: {idle_timeout: {idle: 20cycles, transition: 10cycles}}
  prices:
    on: {static: 7uW, per_bit: 1fJ/bit}
    draining: {static: 7uW, per_bit: 0fJ/bit}
    waking: {static: 7uW, per_bit: 0fJ/bit}
    off: {static: 1uW, per_bit: 0fJ/bit}
  router_price: {static: 1mW, asleep: 100uW, per_port: 30uW, per_bit: 2fJ/bit}
measure: {warmup: 10cycles, window: 2000cycles}
";
const IDLE: (&str, &str) = ("traffic.load", "0");
const CABINETS: &str = "{by: cabinet, cabinets: {left: [[0, 0], [2, 2]], top: [[3, 3]]}}";

fn point(sets: &[(&str, &str)]) -> Point {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("groups.yaml", TREE, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn run_in(blocks: usize, sets: &[(&str, &str)]) -> Finished {
    point(sets).run(Execution::new(1, blocks), &()).unwrap_or_else(|error| panic!("{error}"))
}

fn fj(summary: &Value, key: &str) -> u128 {
    summary[key].as_str().unwrap_or_else(|| panic!("no {key}")).parse().expect("a whole number")
}

fn groups(finished: &Finished) -> &Table {
    &finished.recorded.iter().find(|(name, _)| *name == "groups").expect("groups were asked for").1
}

/// The integers in a column of a table: counts, or energies [fJ].
fn counts(table: &Table, name: &str) -> Vec<u64> {
    match table.column(name) {
        Some(Column::Counts(cells)) => cells.clone(),
        Some(Column::Energies(cells)) => {
            cells.iter().map(|&yj| fj_text(yj).parse().expect("whole femtojoules")).collect()
        }
        _ => panic!("no counts in {name}"),
    }
}

fn names(table: &Table) -> Vec<&str> {
    let Some(Column::Texts(cells)) = table.column("group") else { panic!("no names") };
    cells.iter().map(|name| &**name).collect()
}

#[test]
fn routers_of_an_idle_tree_pay_for_sleep_from_the_cycle_in_which_their_links_are_off() {
    let s = run_in(0, &[IDLE]).summary;
    // The window lasts from cycle 10 to cycle 2010. Links are idle for 20 cycles and off 10 cycles later, so each spine sleeps from cycle
    // 30 on, 1980 cycles. The links to terminals stay on, so the leaves never sleep
    assert_eq!(fj(&s, "energy_routers_static_fj"), 2 * 2000 * 1000 + 2 * (20 * 1000 + 1980 * 100));
    assert_eq!(s["routers_asleep_share"].as_f64(), Some(2.0 * 1980.0 / (4.0 * 2000.0)));
    // the 4 ports to terminals are always on, and the 8 ports to routers are on for 20 cycles
    assert_eq!(fj(&s, "energy_routers_ports_fj"), (4 * 2000 + 8 * 20) * 30);
    let parts = ["static", "ports", "dynamic"].map(|part| fj(&s, &format!("energy_routers_{part}_fj")));
    assert_eq!(fj(&s, "energy_routers_fj"), parts.iter().sum::<u128>());
    // in the always-on reference routers are awake in every cycle. In the ideal reference all routers are always asleep, because no flit
    // crosses them
    let links = |key: &str| fj(&s, key) - fj(&run_in(0, &[IDLE, ("power.router_price", "null")]).summary, key);
    assert_eq!(links("energy_always_on_fj"), 4 * 2000 * 1000 + 12 * 2000 * 30);
    assert_eq!(links("energy_ideal_fj"), 4 * 2000 * 100);
}

#[test]
fn without_a_price_of_sleep_nothing_changes() {
    let awake = ("power.router_price", "{static: 1mW, per_port: 30uW, per_bit: 2fJ/bit}");
    let same = ("power.router_price", "{static: 1mW, asleep: 1mW, per_port: 30uW, per_bit: 2fJ/bit}");
    let (awake, same) = (run_in(0, &[awake]).summary, run_in(0, &[same]).summary);
    assert_eq!(awake.get("routers_asleep_share"), None);
    for (key, value) in awake.as_object().expect("a mapping").iter().filter(|(key, _)| *key != "hash") {
        assert_eq!(&same[key], value, "{key}");
    }
    assert!(!point(&[]).resolved_yaml().contains("groups"));
}

#[test]
fn the_power_of_phases_knows_the_sleep_of_routers() {
    let s = run_in(0, &[("traffic.phases", "[{from: 1010cycles, load: 0.05}]")]).summary;
    let watts = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    for key in ["power_mean_w", "power_always_on_mean_w"] {
        let halves = [watts(&s["phases"][0], key), watts(&s["phases"][1], key)];
        assert!(((halves[0] + halves[1]) / 2.0 / watts(&s, key) - 1.0).abs() < 1e-12, "{key}: {halves:?}");
    }
    assert!(s["routers_asleep_share"].as_f64().is_some_and(|share| share > 0.0));
}

#[test]
fn the_accounts_of_groups_add_up_to_the_bill_in_any_number_of_blocks() {
    for by in ["{by: trunk}", "{by: router}", "{by: cabinet, routers_per_cabinet: 3}", CABINETS] {
        let sets = [("power.groups", by)];
        let finished = run_in(1, &sets);
        let (table, s) = (groups(&finished), &finished.summary);
        let sum = |name: &str| counts(table, name).iter().copied().map(u128::from).sum::<u128>();
        assert_eq!((sum("channels"), sum("routers")), (16, 4), "{by}");
        for (column, key) in [
            ("energy_fj", "energy_total_fj"),
            ("energy_static_fj", "energy_static_fj"),
            ("energy_dynamic_fj", "energy_dynamic_fj"),
            ("energy_routers_fj", "energy_routers_fj"),
        ] {
            assert_eq!(sum(column), fj(s, key), "{by}: {column}");
        }
        assert_eq!(sum("energy_channels_fj") + sum("energy_routers_fj"), sum("energy_fj"));
        let rows = &finished.channels.rows;
        assert_eq!(sum("flits"), rows.iter().map(|row| u128::from(row.count.flits.iter().sum::<u64>())).sum());
        assert!(sum("flits") > 0);
        // a sleeping router draws 900 fJ less in each cycle
        let saved = 4 * 2000 * 1000 - fj(s, "energy_routers_static_fj");
        assert_eq!(saved, 900 * sum("routers_asleep_cycles"), "{by}");
        for blocks in [2, 4] {
            assert_eq!(groups(&run_in(blocks, &sets)), table, "{by} in {blocks} blocks");
        }
        let plain = run_in(1, &[]).summary;
        let numbers =
            |s: &Value| s.as_object().cloned().into_iter().flatten().filter(|(k, _)| k != "hash").collect::<Vec<_>>();
        assert_eq!(numbers(&plain), numbers(s), "groups change no number of the summary");
    }
}

#[test]
fn a_group_sleeps_while_all_that_leaves_or_reaches_it_is_off() {
    let table = |by: &str| run_in(0, &[IDLE, ("power.groups", by)]);
    let column_of = |finished: &Finished, column: &str| counts(groups(finished), column);
    // computed by hand: links between routers are off from cycle 30 to 2010, which is 1980 cycles; links of terminals are never off
    let trunks = table("{by: trunk}");
    assert_eq!(names(groups(&trunks)), ["0-2", "0-3", "1-2", "1-3", "(in no group)"]);
    assert_eq!(column_of(&trunks, "channels"), [2, 2, 2, 2, 8]);
    assert_eq!(column_of(&trunks, "asleep_cycles"), [1980, 1980, 1980, 1980, 0]);
    assert_eq!(column_of(&trunks, "channels_off_cycles"), [3960, 3960, 3960, 3960, 0]);
    assert_eq!(column_of(&trunks, "routers_asleep_cycles"), [0, 0, 0, 0, 3960]);
    assert_eq!(column_of(&trunks, "energy_fj")[0], 2 * (20 * 7 + 1980));
    let routers = table("{by: router}");
    assert_eq!(names(groups(&routers)), ["0", "1", "2", "3"]);
    // a leaf sends on 4 channels, and its two terminals send on one channel each
    assert_eq!(column_of(&routers, "channels"), [6, 6, 2, 2]);
    assert_eq!(column_of(&routers, "asleep_cycles"), [0, 0, 1980, 1980]);
    assert_eq!(column_of(&routers, "routers_asleep_cycles"), [0, 0, 1980, 1980]);
    let cabinets = table(CABINETS);
    assert_eq!(names(groups(&cabinets)), ["left", "top", "(in no group)"]);
    assert_eq!(column_of(&cabinets, "routers"), [2, 1, 1]);
    assert_eq!(column_of(&cabinets, "asleep_cycles"), [0, 1980, 0]);
    assert_eq!(column_of(&cabinets, "routers_asleep_cycles"), [1980, 1980, 0]);
    let Some(Column::Floats(shares)) = groups(&cabinets).column("asleep_share") else { panic!("no shares") };
    assert_eq!(shares, &[0.0, 0.99, 0.0]);
    let sizes = run_in(0, &[IDLE, ("power.groups", "{by: cabinet, routers_per_cabinet: 3}")]);
    assert_eq!(names(groups(&sizes)), ["0-2", "3-3"]);
    // the run counts the sleep of routers even if sleep has no price
    let free = run_in(0, &[IDLE, ("power.groups", "{by: router}"), ("power.router_price", "null")]);
    assert_eq!(column_of(&free, "routers_asleep_cycles"), [0, 0, 1980, 1980]);
    assert_eq!(column_of(&free, "energy_routers_fj"), [0; 4]);
}

#[test]
fn groups_that_do_not_go_with_the_network_are_refused_and_the_remedies_work() {
    for (by, place, words, help) in [
        (
            "{by: cabinet, routers_per_cabinet: 0}",
            "power.groups.routers_per_cabinet:",
            "0 routers has no channels",
            "write 1 to 4",
        ),
        ("{by: cabinet}", "power.groups:", "no key assigns routers to cabinets", "`cabinets: {A: [[0, 7]]}`"),
        (
            "{by: cabinet, cabinets: {A: []}}",
            "power.groups.cabinets.A:",
            "`A` has no routers, so it has no channels",
            "[[0, 3]]",
        ),
        (
            "{by: cabinet, cabinets: {A: [[0, 4]]}}",
            "power.groups.cabinets.A.0:",
            "0 to 4 is not a range of the 4 routers",
            "write [first, last] within 0 to 3",
        ),
        ("{by: cabinet, cabinets: {A: [[2, 1]]}}", "power.groups.cabinets.A.0:", "2 to 1", "within 0 to 3"),
        (
            "{by: cabinet, cabinets: {A: [[0, 1]], B: [[3, 3], [1, 2]]}}",
            "power.groups.cabinets.B.1:",
            "router 1 is in the cabinets `A` and `B`",
            "name each router once",
        ),
        (
            "{by: cabinet, cabinets: {A: [[0, 1], [1, 2]]}}",
            "power.groups.cabinets.A.1:",
            "`A` names router 1 twice",
            "once",
        ),
        (
            "{by: cabinet, cabinets: {(in no group): [[0, 1]]}}",
            "power.groups.cabinets",
            "of all other parts",
            "another name",
        ),
        ("{by: rack}", "power.groups.by:", "rack", "cabinet"),
        (
            "{by: router, routers_per_cabinet: 2}",
            "power.groups.routers_per_cabinet:",
            "the groups are not cabinets",
            "`by: cabinet`",
        ),
        (
            "{by: trunk, cabinets: {A: [[0, 1]]}}",
            "power.groups.cabinets:",
            "the groups are not cabinets",
            "`by: cabinet`",
        ),
        (
            "{by: cabinet, routers_per_cabinet: 2, cabinets: {A: [[0, 1]]}}",
            "power.groups.cabinets:",
            "by name and by size",
            "leave `routers_per_cabinet` or `cabinets` out",
        ),
    ] {
        let message = refused_in("groups.yaml", TREE, &[("power.groups", by)]);
        for part in [place, words, help] {
            assert!(message.contains(part), "{by} is said to be\n{message}");
        }
    }
    let lone = ("topology", "{single_router: {terminals: 4}}");
    let sets = [lone, ("routing", "minimal"), ("power.groups", "{by: trunk}")];
    let message = refused_in("groups.yaml", TREE, &sets);
    assert!(message.contains("no link between two routers") && message.contains("write `by: router`"), "{message}");
    // checks that the remedies work
    point(&[lone, ("routing", "minimal"), ("power.groups", "{by: router}")]);
    for by in [
        "{by: cabinet, routers_per_cabinet: 4}",
        "{by: cabinet, cabinets: {A: [[0, 3]]}}",
        "{by: cabinet, cabinets: {A: [[0, 1]], B: [[3, 3], [2, 2]]}}",
    ] {
        point(&[("power.groups", by)]);
    }
}

#[test]
fn a_price_of_sleep_that_saves_nothing_is_reported() {
    let warnings_of = |sets: &[(&str, &str)]| {
        let warnings = point(sets).warnings;
        let own = warnings.into_iter().filter(|warning| warning.path == "power.router_price.asleep");
        own.map(|warning| format!("{} {}", warning.what, warning.help)).collect::<Vec<_>>()
    };
    assert_eq!(warnings_of(&[]), [""; 0]);
    assert_eq!(warnings_of(&[("power.router_price.asleep", "1mW")]), [""; 0]);
    let dear = warnings_of(&[("power.router_price.asleep", "2mW")]).concat();
    assert!(dear.contains("uses 2000 fJ per cycle") && dear.contains("awake router, 1000 fJ"), "{dear}");
    // in these cases no router sleeps: no link goes off, links go to a mode other than `off`, or every router has terminals
    let quarter = "{idle_timeout: {idle: 20cycles, transition: 10cycles, to: quarter}}";
    let prices = ("power.prices", "null");
    for (sets, class) in [
        (&[("power.policy", "always_on")][..], "`terminal` or `level1`"),
        (&[("power.policy", quarter), prices], "`terminal` or `level1`"),
        (&[("topology", "{hyperx: {widths: [3], terminals_per_router: 1}}"), ("routing", "minimal")], "`terminal`"),
    ] {
        let never = warnings_of(sets).concat();
        assert!(never.contains("no router ever sleeps") && never.contains(class), "{never}");
        assert!(never.contains("leave `asleep` out") && never.contains("above the leaves of a tree"), "{never}");
    }
}
