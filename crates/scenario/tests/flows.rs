//! Tests of the recordings of flows and queues, in a network with a hot spot. The numbers of all classes of flows add up exactly to the
//! number of the run, for any number of blocks. Queues fill from the hot destination outward.

use serde_json::Value;
use weft_engine::recording::{Column, Table};
use weft_engine::spec::Execution;
use weft_scenario::{Channel, Finished, Point, expand};

const ONE: Execution = Execution::new(1, 1);

/// A dragonfly with a hot spot, with different prices for each link class, and with packets of several lengths.
const HOT: &str = "\
topology: {dragonfly: {routers_per_group: 4, terminals_per_router: 2, global_links_per_router: 2}}
routing: dragonfly_minimal
links: {terminal: {latency: 3cycles}, default: {latency: 7cycles}}
traffic:
  pattern: {hot_spot: {targets: {random: {count: 1}}, sources: {random: {share: 0.25}}}}
  load: 0.3
  packet: {mix: [{size: 1flit, weight: 1}, {size: 7flits, weight: 1}]}
power:
  class_prices:
    local: {on: {static: 1pJ/bit, per_bit: 2pJ/bit}}
    global: {on: {static: 1pJ/bit, per_bit: 5pJ/bit}}
    terminal: {on: {static: 1pJ/bit, per_bit: 1pJ/bit}}
measure:
  warmup: 500cycles
  window: 2000cycles
  drain_limit: 3000cycles
  flows: {classes: [{name: hot, from: sources, to: targets}, {name: stray, to: targets}, {name: cold, from: others}]}
  occupancy: {every: 50cycles}
";

fn point(text: &str, set: &[(&str, &str)]) -> Point {
    let set: Vec<_> = set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    expand("flows.yaml", text, &set).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn run(point: &Point, how: Execution) -> Finished {
    point.run(how, &()).unwrap_or_else(|error| panic!("{error}"))
}

fn table<'a>(finished: &'a Finished, name: &str) -> &'a Table {
    &finished.recorded.iter().find(|(own, _)| *own == name).expect("recorded").1
}

fn counts<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match table.column(name) {
        Some(Column::Counts(counts)) => counts,
        other => panic!("{name}: {other:?}"),
    }
}

fn energies<'a>(table: &'a Table, name: &str) -> &'a [u128] {
    match table.column(name) {
        Some(Column::Energies(energies)) => energies,
        other => panic!("{name}: {other:?}"),
    }
}

fn floats<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Some(Column::Floats(floats)) => floats,
        other => panic!("{name}: {other:?}"),
    }
}

fn number(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().unwrap_or_else(|| panic!("{key}: {}", summary[key]))
}

/// The number of flits on the channels for which `keep` is true.
fn sent(finished: &Finished, keep: fn(&weft_engine::outcome::ChannelCount) -> bool) -> u64 {
    finished.channels.rows.iter().filter(|row| keep(&row.count)).map(|row| row.count.flits.iter().sum::<u64>()).sum()
}

#[test]
fn classes_add_up_to_the_run_and_its_channels() {
    // packets cross the beginning and the end of the window in all states, so the table must count flits, not packets
    for set in
        [&[][..], &[("router.flow_control", "wormhole"), ("traffic.packet", "40flits")], &[("traffic.packet", "1flit")]]
    {
        let finished = run(&point(HOT, set), ONE);
        let (flows, summary) = (table(&finished, "flows"), &finished.summary);
        let sum = |name: &str| counts(flows, name).iter().sum::<u64>();
        assert_eq!(sum("packets"), summary["packets"].as_u64().expect("a count"), "{set:?}");
        assert_eq!(sum("injected_flits"), sent(&finished, |count| count.from.is_none()), "{set:?}");
        let between = sent(&finished, |count| count.from.is_some() && count.to.is_some());
        assert_eq!(sum("link_flits"), between, "{set:?}");
        assert!(between > 0 && counts(flows, "link_flits").iter().filter(|&&flits| flits > 0).count() == 3, "{set:?}");
        let dynamic: u128 = finished.channels.rows.iter().map(|row| row.energy.dynamic_yj).sum();
        assert_eq!(energies(flows, "energy_links_dynamic_fj").iter().sum::<u128>(), dynamic, "{set:?}");
        // each mean is weighted by the packets of its class
        let mean = |name: &str| {
            let of = floats(flows, name).iter().zip(counts(flows, "packets")).filter(|&(_, &packets)| packets > 0);
            of.map(|(mean, &packets)| mean * packets as f64).sum::<f64>() / sum("packets") as f64
        };
        for name in ["packet_latency_mean_cycles", "network_latency_mean_cycles", "hops_mean"] {
            assert!((mean(name) / number(summary, name) - 1.0).abs() < 1e-12, "{set:?}: {name}");
        }
        if set == [("traffic.packet", "1flit")] {
            // the loads add up exactly, because only whole packets are accepted
            let accepted: f64 = floats(flows, "accepted_load").iter().sum();
            assert!((accepted - number(summary, "accepted_load")).abs() < 1e-12, "{set:?}");
        }
    }
}

#[test]
fn classes_are_those_of_source_and_destination() {
    // The network has 72 terminals: 18 sources of the hot spot and 54 other terminals, of which one is the target. Packets from the sources
    // to the target are `hot`. Packets from the other terminals to the target are `stray`. Each of the 53 terminals that are neither a
    // source nor the target sends 1/71 of its packets to the target.
    let finished = run(
        &point(HOT, &[("traffic.load", "0.02"), ("measure.window", "40000cycles"), ("traffic.packet", "1flit")]),
        ONE,
    );
    let flows = table(&finished, "flows");
    // each packet is in the first class that fits; so `rest` contains only the packets that sources send to terminals other than the target
    assert_eq!(counts(flows, "sources"), [18, 54, 54, 18]);
    let packets: Vec<f64> = counts(flows, "packets").iter().map(|&packets| packets as f64).collect();
    let offered = 40_000.0 * 0.02;
    let expected = [18.0 * offered, 53.0 / 71.0 * offered, (53.0 * 70.0 / 71.0 + 1.0) * offered, 0.0];
    for (found, expected) in packets.iter().zip(expected) {
        // packet counts have a Poisson distribution; the limit is 5 standard deviations
        assert!((found - expected).abs() <= 5.0 * expected.sqrt(), "{packets:?}");
    }
    assert_eq!(packets[3], 0.0, "no source sends to anybody but the target");
}

#[test]
fn tables_do_not_depend_on_the_blocks() {
    let point = point(HOT, &[]);
    let one = run(&point, ONE);
    for how in [Execution::new(1, 5), Execution::new(2, 9), ONE.plain()] {
        // compares the tables as text, because a mean of no packets is NaN, which does not equal itself
        assert_eq!(format!("{:?}", run(&point, how).recorded), format!("{:?}", one.recorded), "{how:?}");
    }
}

#[test]
fn replies_belong_to_the_flow_from_the_server() {
    let finished = run(
        &point(HOT, &[("traffic.reply", "{packet: 3flits}"), ("traffic.load", "0.02"), ("traffic.packet", "1flit")]),
        ONE,
    );
    let flows = table(&finished, "flows");
    assert_eq!(
        counts(flows, "injected_flits").iter().sum::<u64>(),
        sent(&finished, |count| count.from.is_none()),
        "requests and replies"
    );
    // the target answers the sources; its replies are neither packets from sources nor packets to the target
    assert!(counts(flows, "packets")[2] > 0 && counts(flows, "packets")[0] > 0);
}

#[test]
fn flits_of_packets_that_are_dropped_count_on_the_channels_that_they_crossed() {
    // a link fails in the window and returns: packets that were about to cross it are dropped, also packets that had crossed it in part
    let text = "\
topology: {torus: {widths: [4, 4], terminals_per_router: 2}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.2, packet: 9flits}
faults: [{link: [0, 1], at: 1500cycles, until: 2500cycles}]
measure: {warmup: 1000cycles, window: 2000cycles, flows: {classes: [{name: to_some, to: [0, 1, 2, 3]}]}}
";
    let finished = run(&point(text, &[]), ONE);
    assert!(finished.summary["dropped_packets"].as_u64().expect("a count") > 0);
    let flows = table(&finished, "flows");
    let sum = |name: &str| counts(flows, name).iter().sum::<u64>();
    assert_eq!(counts(flows, "packets").len(), 2, "to_some and rest: no flit is left over");
    assert_eq!(sum("injected_flits"), sent(&finished, |count| count.from.is_none()));
    assert_eq!(sum("link_flits"), sent(&finished, |count| count.from.is_some() && count.to.is_some()));
}

#[test]
fn control_packets_have_a_row_of_their_own() {
    let text = "\
topology: {hyperx: {widths: [4, 4], terminals_per_router: 2}}
routing: pal
traffic: {pattern: uniform, load: 0.4, packet: 4flits}
power: {policy: {tcep: {activation_epoch: 200cycles, deactivation_epoch: 1000cycles, wake: 50ns}}}
measure: {warmup: 0cycles, window: 4000cycles, flows: {classes: [{name: to_first, to: [0]}, {name: others}]}}
";
    let finished = run(&point(text, &[]), ONE);
    let flows = table(&finished, "flows");
    let Some(Column::Texts(names)) = flows.column("flow") else { panic!("names") };
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["to_first", "others", "control"]);
    // each control packet counts as one flit on each link that it crosses
    assert_eq!(counts(flows, "link_flits")[2], finished.summary["control_flit_hops"].as_u64().expect("a count"));
    let dynamic: u128 = finished.channels.rows.iter().map(|row| row.energy.dynamic_yj).sum();
    assert_eq!(energies(flows, "energy_links_dynamic_fj").iter().sum::<u128>(), dynamic);
    assert_eq!(counts(flows, "packets")[2], 0, "no packet of a terminal");
}

#[test]
fn queues_fill_from_the_hot_destination_on() {
    // In a line of 5 routers with 2 terminals each, 9 terminals send 0.12 flits per cycle each to terminal 0. Terminal 0 accepts 1 of
    // these 1.08 flits per cycle, so the port at router 0 fills. A channel toward router 0 has an offered load of at most 8 * 0.12 = 0.96.
    // The ports farther away therefore fill only because the next port is full. Flits on the link and credits in flight occupy buffer
    // slots, so the test counts a buffer as full if half of it is used.
    let text = "\
topology: {mesh: {widths: [5], terminals_per_router: 2}}
routing: dimension_order
links: {default: {latency: 1cycle, vcs: 1, buffer: 32flits}}
traffic: {pattern: {hot_spot: {targets: [0]}}, load: 0.12, packet: 1flit, loads: [{terminals: [0, 0], load: 0}]}
measure: {warmup: 0cycles, window: 20000cycles, drain_limit: 400cycles, occupancy: {every: 1cycle}}
";
    let finished = run(&point(text, &[]), ONE);
    let occupancy = table(&finished, "occupancy");
    let columns = ["cycle", "channel", "queued_flits", "fullest_vc_flits", "vc_buffer_flits"];
    let columns = columns.map(|name| counts(occupancy, name));
    let end = |from, to| move |row: &Channel| (row.count.from, row.count.to) == (Some(from), Some(to));
    let toward = (0..4).map(|r| finished.channels.rows.iter().position(end(r + 1, r)).expect("a channel") as u64);
    let toward: Vec<u64> = toward.collect();
    let mut first_full = [u64::MAX; 4];
    for row in 0..columns[0].len() {
        let [cycle, channel, queued, fullest, capacity] = columns.map(|column| column[row]);
        assert!(fullest == queued && queued <= capacity && capacity == 32, "one VC of 32 flits");
        if let Some(r) = toward.iter().position(|&own| own == channel)
            && queued >= 16
        {
            first_full[r] = first_full[r].min(cycle);
        }
    }
    assert!(first_full.is_sorted() && first_full[3] < u64::MAX, "{first_full:?}");
}

#[test]
fn wrong_classes_are_shown_at_their_place() {
    let path = "measure.flows.classes";
    for (classes, place, what) in [
        ("[]", "", "0 classes of flows"),
        ("[{name: hot, to: server}]", ".0.to", "no set of terminals is called `server`"),
        ("[{name: hot, to: [72]}]", ".0.to", "there is no terminal 72: the network has 72 terminals"),
        ("[{name: hot, to: []}]", ".0.to", "the list has no terminals, so the class has no packets"),
        ("[{name: hot, to: 5}]", ".0.to", "expected a list of terminals"),
        ("[{name: all}, {name: hot, to: targets}]", ".1", "class `all` contains all packets"),
        ("[{name: hot, to: targets}, {name: hot}]", ".1.name", "`hot` is also the name of another class"),
        ("[{name: rest, to: targets}]", ".0.name", "`rest` is the name of the row for packets of no class"),
        ("[{name: control, to: targets}]", ".0.name", "`control` is the name of the row for control packets"),
        ("[{name: '', to: targets}]", ".0.name", "the class has no name"),
    ] {
        let set = [(path.to_owned(), classes.to_owned())];
        let error = match expand("wrong.yaml", HOT, &set) {
            Err(error) => error.to_string(),
            Ok(points) => points[0].check_network().expect_err(classes).to_string(),
        };
        assert!(error.starts_with(&format!("error: {path}{place}")) && error.contains(what), "{classes}: {error}");
    }
    let sets = point(HOT, &[(path, "[{name: hot, to: [3]}, {name: own, from: all}]")]);
    assert!(sets.check_network().is_ok(), "the job of a whole machine is called all");
}
