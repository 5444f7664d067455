//! Tests heads, tables and terminal links while links and routers are broken, in networks small enough to compute the results by hand.

use crate::common::*;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Execution, Fault, Part, Watched};
use weft_engine::watch::Reason;
use weft_engine::{Spec, unproven};

fn fault(a: u32, b: u32, at: u64, until: Option<u64>) -> Fault {
    Fault { what: Part::Link([a, b]), at, until }
}

fn dead(router: u32, at: u64, until: Option<u64>) -> Fault {
    Fault { what: Part::Router(router), at, until }
}

// ---- links of one class ----------------------------------------------------------------------------------------------

#[test]
fn of_the_links_between_two_routers_those_of_one_class_may_fail_alone() {
    // a local link connects routers 0 and 1 of a group; a second link between them belongs to the ring, and packets of this test do not use
    // it
    const WIRED: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
        "escape_rings": 1}}"#;
    let of_class = |what: &dyn Fn([u32; 2]) -> Part| {
        let mut spec = spec(WIRED, DF_MINIMAL);
        spec.set_load(0.1);
        phases(&mut spec, 0, 4000);
        spec.faults = vec![Fault { what: what([1, 0]), at: 1000, until: Some(3000) }];
        let out = run(&spec);
        let between = out.channels.iter().filter(|c| (c.from, c.to) == (Some(0), Some(1)));
        // flits that are on the link in the cycle of its failure still cross it
        let is_off = |class: u8| {
            let mut of = between.clone().filter(|c| c.class == class).map(|c| c.cycles[LinkState::Off]);
            let (off, others) = (of.next().expect("a link"), of.next());
            assert!(others.is_none() && (off == 0 || (1900..=2000).contains(&off)), "{off} {others:?}");
            off > 0
        };
        (out.dropped_packets > 0, is_off(1), is_off(3))
    };
    assert_eq!(spec(WIRED, DF_MINIMAL).graph.class_names()[1..4], ["local", "global", "ring_local"]);
    assert_eq!(of_class(&Part::Link), (true, true, true));
    assert_eq!(of_class(&|ends| Part::LinkOfClass(ends, 1)), (true, true, false));
    assert_eq!(of_class(&|ends| Part::LinkOfClass(ends, 3)), (false, false, true));
}

// ---- watched heads --------------------------------------------------------------------------------------------------

#[test]
fn a_watched_head_that_waits_for_new_tables_says_that_its_link_is_broken() {
    let mut spec = spec(r#"{"torus": {"widths": [6], "terminals_per_router": 2}}"#, SHORTEST);
    pattern(&mut spec, UNIFORM_SELF);
    spec.set_load(0.1);
    phases(&mut spec, 100, 3000);
    spec.faults = vec![fault(1, 2, 130, None)];
    spec.fault_times.rebuild_delay = 300;
    spec.watched = Watched::First(100_000);
    let out = run(&spec);
    assert_eq!(out.ending, Ending::Drained);
    let lives: Vec<_> = out.journeys.iter().filter_map(|journey| journey.life.as_ref()).collect();
    let mut met = 0;
    for life in &lives {
        for visit in &life.routers {
            for wait in visit.waits.iter().filter(|wait| wait.reason == Reason::LinkBroken) {
                met += 1;
                // the head waits until the cycle in which the new tables take effect, at either end of the link
                assert!([1, 2].contains(&visit.router) && wait.from_cycle >= 130, "{wait:?} at {}", visit.router);
                assert_eq!(wait.to_cycle, 130 + 300, "{wait:?} at {}", visit.router);
            }
        }
    }
    assert!(met > 3, "{met} of {} packets", lives.len());
    // all measured packets are watched
    let delivered = lives.iter().filter(|life| life.delivered_cycle.is_some()).count() as u64;
    assert_eq!(delivered, out.sums.packets);
}

// ---- rebuilt tables -------------------------------------------------------------------------------------------------

const MESH_OF_4: &str = r#"{"full_mesh": {"routers": 4, "terminals_per_router": 1}}"#;

/// Four routers that are all neighbours. From cycle 500 on, all links except those of the ring 0-1-2-3 are broken.
fn only_a_ring_is_left(routing: &str) -> Spec {
    let mut spec = spec(MESH_OF_4, routing);
    spec.set_load(0.1);
    spec.faults = vec![fault(0, 2, 400, Some(2000)), fault(1, 3, 500, Some(2000))];
    spec.fault_times.rebuild_delay = 50;
    spec
}

#[test]
fn tables_that_are_cyclic_once_links_have_failed_are_refused_and_the_remedies_work() {
    // with one VC class, packets of two hops on the ring wait for each other
    let spec = only_a_ring_is_left(ECMP_ONE);
    let refusal = weft_engine::check(&spec).expect_err("a cycle");
    assert_eq!(refusal.path, "faults");
    let what = "after the fault or repair in cycle 500: ";
    assert!(refusal.what.starts_with(what) && refusal.what.contains("a cycle of 4 channels"), "{refusal}");
    assert!(refusal.help.starts_with("remove this fault, or: "), "{refusal}");
    for remedy in ["allow_dependency_cycle", "routing"] {
        assert!(refusal.help.contains(remedy), "{remedy}: {refusal}");
    }
    // all links work at first; in this spec one more link keeps working, a chord of the ring, and then there is no cycle
    let mut fewer = spec.clone();
    fewer.faults.pop();
    let mut studied = spec.clone();
    studied.allow_dependency_cycle = true;
    for followed in [fewer, studied, only_a_ring_is_left(ECMP)] {
        let out = run(&followed);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    }
}

#[test]
fn what_is_not_proven_of_tables_is_said_unless_the_class_rises_with_each_hop() {
    let one_link = |routing: &str, links: u32| {
        let mut spec = only_a_ring_is_left(routing);
        spec.faults = (0..links).map(|k| fault(0, 1, 100 + 10 * u64::from(k), Some(105 + 10 * u64::from(k)))).collect();
        spec
    };
    let remark = unproven(&one_link(ECMP_ONE, 1)).expect("a spec").expect("a remark");
    assert_eq!(remark.path, "faults");
    let mixed = "packets that follow the tables from before a change and packets that follow the tables from after";
    assert!(remark.what.contains(mixed), "{remark:?}");
    assert!(!remark.what.contains("not checked"), "{remark:?}");
    // the link fails 40 times and works again 40 times
    let remark = unproven(&one_link(ECMP_ONE, 40)).expect("a spec").expect("a remark");
    assert!(remark.what.contains("16 of 80 states of the network are not checked"), "{remark:?}");
    // the remedy in the message is a routing whose class rises with each hop
    assert!(remark.help.contains("class rises with each hop"), "{remark:?}");
    assert_eq!(unproven(&one_link(ECMP, 1)), Ok(None));
    assert_eq!(unproven(&one_link(ECMP_ONE, 0)), Ok(None), "without faults nothing is said");
    assert_eq!(
        unproven(&{
            let mut other = one_link(ECMP, 1);
            other.routing = routing(MINIMAL);
            other
        }),
        Ok(None)
    );
}

// ---- patience -------------------------------------------------------------------------------------------------------

#[test]
fn heads_without_an_escape_wait_for_their_patience_only() {
    let dropped = |patience: u64| {
        let mut spec = spec(r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 2}}"#, ADAPTIVE);
        packets(&mut spec, 5, VirtualCutThrough, 5);
        pattern(&mut spec, r#"{"bit_complement": {}}"#);
        // at this high load, hops other than the escape are rarely free immediately
        spec.set_load(0.9);
        phases(&mut spec, 0, 3000);
        spec.faults = vec![fault(5, 6, 500, None)];
        spec.fault_times.patience = patience;
        let out = run_as(&spec, Execution::new(1, 2));
        assert_same(&run(&spec), &out, "2 blocks");
        assert!(!matches!(out.ending, Ending::Stalled(_)), "{:?}", out.ending);
        out.dropped_packets
    };
    let [none, some, long] = [0, 20, 1_000_000].map(dropped);
    assert!(none > some && some > long, "{none}, {some} and {long} dropped");
    // packets without another hop are discarded, for any value of `patience`
    assert!(long > 0);
}

// ---- a routing that reads the states of links, if no link is ever off ----------------------------------------------

#[test]
fn pal_goes_round_faults_by_itself_where_no_link_is_ever_off() {
    let dropped = |routing: &str, faults: &[Fault]| {
        let mut spec = spec(r#"{"hyperx": {"widths": [6], "terminals_per_router": 2}}"#, routing);
        pattern(&mut spec, UNIFORM_SELF);
        spec.set_load(0.3);
        phases(&mut spec, 0, 10_000);
        spec.faults = faults.to_vec();
        let out = run(&spec);
        assert_same(&out, &run_as(&spec, Execution::new(1, 3)), routing);
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{routing}");
        out.dropped_packets as f64 / (out.sums.packets + out.dropped_packets) as f64
    };
    // without a choice of paths, the packets of 2 of 36 pairs are lost in 9,000 of 10,000 cycles. PAL loses packets that meet the broken
    // link on a detour, because it can't use the hub. The hub is an end of this link
    let of_hub = [fault(0, 4, 1000, None)];
    let (fixed, pal) = (dropped(DOR, &of_hub), dropped(PAL, &of_hub));
    assert!((fixed - 0.9 * 2.0 / 36.0).abs() < 0.01, "{fixed}");
    assert!(pal < fixed / 4.0, "{pal} and {fixed}");
    // a head that meets this broken link after a detour takes the path over the hub
    assert_eq!(dropped(PAL, &[fault(2, 4, 1000, Some(8000))]), 0.0);
    // a dead router loses the packets that it sends and receives: 11 of 36 pairs
    let dead = dropped(PAL, &[dead(3, 1000, None)]);
    assert!((dead - 0.9 * 11.0 / 36.0).abs() < 0.02, "{dead}");
}

// ---- links of terminals ---------------------------------------------------------------------------------------------

/// For each channel to a terminal of router `r`, the number of cycles in state `state`.
fn to_terminals(out: &Outcome, r: u32, state: LinkState) -> Vec<u64> {
    let own = out.channels.iter().filter(|c| c.from == Some(r) && c.to.is_none());
    own.map(|c| c.cycles[state]).collect()
}

#[test]
fn the_links_of_the_terminals_of_a_dead_router_do_what_the_policy_wants() {
    let spec = |policy_json: &str| {
        let mut spec = spec(MESH, DOR);
        policy(&mut spec, policy_json);
        spec.set_load(0.3);
        phases(&mut spec, 0, 8000);
        spec.managed.fill(false);
        spec.managed[0] = true;
        spec.faults = vec![dead(5, 1000, Some(7000)), dead(2, 2000, None)];
        spec
    };
    // links of the policy `always_on` stay on even if their router is dead, and its terminals continue to send
    let mut on = spec(ALWAYS_ON);
    on.managed[0] = false;
    let out = run(&on);
    for router in 0..12 {
        assert!(to_terminals(&out, router, LinkState::On).iter().all(|&cycles| cycles == 8000), "router {router}");
    }
    for to in ["off", "half"] {
        let spec = spec(&format!(r#"{{"idle_timeout": {{"idle": "40ns", "transition": "25ns", "to": "{to}"}}}}"#));
        let out = run(&spec);
        assert_same(&out, &run_as(&spec, Execution::new(2, 3)), "3 blocks");
        assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{to}");
        let idle = if to == "off" { LinkState::Off } else { HALF };
        // a dead router sends only flits that it had already granted. Therefore its links go off after 40 and 25 cycles, and stay off until
        // the router works again. In the 2,000 other cycles the links are off some of the time.
        for cycles in to_terminals(&out, 5, idle) {
            assert!((5800..7900).contains(&cycles), "{to}: {cycles}");
        }
        assert!(to_terminals(&out, 2, idle).iter().all(|&cycles| cycles >= 5800), "{to}");
        for c in &out.channels {
            assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{to}: {c:?}");
            assert_eq!(c.flits[LinkState::Off] + c.flits[LinkState::Waking], 0, "{to}: {c:?}");
        }
        // when it works again, the router delivers packets again
        let arrived = out.channels.iter().filter(|c| c.from == Some(5) && c.to.is_none());
        assert!(arrived.map(|c| c.flits.iter().sum::<u64>()).sum::<u64>() > 700, "{to}");
    }
}

// ---- all together ---------------------------------------------------------------------------------------------------

#[test]
fn boards_agents_rates_and_faults_together_are_the_same_on_any_number_of_blocks_and_threads() {
    use weft_engine::spec::Rate;
    let rate = |flits, cycles| Rate::new(flits, cycles, "links").expect("a rate");
    for (case, (to, flits)) in [("off", 1), ("off", 5), ("half", 1), ("half", 5)].into_iter().enumerate() {
        let mut spec = spec(DRAGONFLY, DF_UGAL_POSTED);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        pattern(&mut spec, ADVERSE);
        policy(&mut spec, &format!(r#"{{"idle_timeout": {{"idle": "40ns", "transition": "25ns", "to": "{to}"}}}}"#));
        for (link, of) in spec.links.iter_mut().zip([rate(1, 1), rate(2, 3), rate(1, 2)]) {
            link.rate = of;
        }
        spec.set_load(0.15);
        phases(&mut spec, 200, 2500);
        spec.faults = vec![
            fault(0, 1, 400, Some(900)),
            dead(3, 600, Some(1500)),
            fault(8, 9, 1000, None),
            dead(20, 1200, Some(1300)),
        ];
        record_link_states(&mut spec, 1 << 20);
        let one = run(&spec);
        assert!(one.dropped_packets > 0 && one.sums.packets > 1000, "{to}, {flits} flits");
        for &(threads, blocks) in in_turn(case, &[(1, 2), (2, 3), (3, 9), (2, 4)]) {
            let many = run_as(&spec, Execution::new(threads, blocks));
            let what = format!("{to}, {flits} flits, {threads} threads and {blocks} blocks");
            assert_same(&one, &many, &what);
            assert_eq!((one.dropped_packets, one.dropped_flits), (many.dropped_packets, many.dropped_flits), "{what}");
            assert_eq!(one.faults, many.faults, "{what}");
            assert!(link_states(&one) == link_states(&many), "{what}: other link states");
        }
    }
}

// ---- in-transit adaptive routing ------------------------------------------------------------------------------------

/// One link between two routers of a group breaks, and one link between two groups. Every head that would use such a link takes a detour.
/// Therefore no packet is lost, and no packet waits until its patience ends.
#[test]
fn in_transit_routings_take_a_broken_output_for_one_that_is_taken() {
    let dragonfly =
        r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
    let grid = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
    // the first neighbour is in the same group or row, and the last neighbour in another group or in the column
    const SLEEPY: &str = r#"{"idle_timeout": {"idle": "20ns", "transition": "10ns"}}"#;
    for (topology, ofar) in [(dragonfly, r#"{"dragonfly_ofar": {}}"#), (grid, r#"{"hyperx_ofar": {}}"#)] {
        for trigger in [r#""granted""#, r#""granted_or_full""#, r#""unavailable""#] {
            for (policy_json, load) in [(r#"{"always_on": {}}"#, 0.1), (SLEEPY, 0.01)] {
                let mut spec = spec(topology, &ofar.replace("{}", &format!(r#"{{"trigger": {trigger}}}"#)));
                policy(&mut spec, policy_json);
                pattern(&mut spec, UNIFORM_SELF);
                spec.set_load(load);
                phases(&mut spec, 1000, 4000);
                spec.fault_times.patience = 2000;
                let first = spec.graph.ports(0).iter().find_map(peer).expect("a neighbour");
                let last = spec.graph.ports(0).iter().rev().find_map(peer).expect("a neighbour");
                assert_ne!(first, last);
                spec.faults = vec![fault(0, first, 500, None), fault(0, last, 600, None)];
                let out = run(&spec);
                let what = format!("{ofar}, {trigger}, {policy_json}");
                assert_eq!((out.missing_packets, out.dropped_packets), (0, 0), "{what}");
                assert_eq!(out.ending, Ending::Drained, "{what}");
                // a packet that circulates on the escape ring would take hundreds of cycles
                assert!(out.latency.max() < spec.fault_times.patience, "{what}: {}", out.latency.max());
            }
        }
    }
}

/// The router to which a port leads.
fn peer(port: &weft_topology::Port) -> Option<u32> {
    match port.peer {
        weft_topology::Peer::Router { router, .. } => Some(router),
        weft_topology::Peer::Terminal(_) | weft_topology::Peer::Unused => None,
    }
}
