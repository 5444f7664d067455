//! Tests the rule by which the sequencer of the policy SLaC switches stages on and off, step by step, with invented utilisations. Also
//! compares the utilisation that SLaC measures with the flits in the queues.

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use std::any::Any;
use weft_api::agents::Overseer;
use weft_api::state::{LinkState, NONE, Packet};
use weft_kernel::face::widths::NarrowBlock;
use weft_models::power::slac::gauge::Gauge;
use weft_models::power::slac::sequencer::{Change, Sequencer};

/// A network of 4 columns x 3 rows of routers with 2 terminals each. The stages have 6 + 4 * 2 = 14, 6 + 4 = 10 and 6 links.
fn network(blocks: usize) -> Simulation {
    network_from("first_stage", blocks)
}

fn network_from(initial: &str, blocks: usize) -> Simulation {
    let topology = serde_json::from_str(r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#).unwrap();
    let routing = serde_json::from_str(r#"{"slac": {}}"#).unwrap();
    let mut spec = Spec::new(&topology, routing).unwrap();
    spec.policy = serde_json::from_value(serde_json::json!({
        "slac": {"wake_per_link": "10cycles", "release": "below_low", "initial": initial}
    }))
    .unwrap();
    spec.set_load(0.5);
    spec.set_packet(4);
    Simulation::new(&spec, Execution::new(1, blocks)).unwrap()
}

/// Makes the sequencer decide in cycle `now`. Routers 0 to 11 report the utilisations `used`.
fn decide(sequencer: &mut Sequencer, sim: &mut Simulation, now: u64, used: [f64; 12]) {
    sequencer.used.copy_from_slice(&used);
    sequencer.decide(&mut sim.whole(), now);
}

fn sequencer(sim: &mut Simulation) -> Box<Sequencer> {
    let overseer: Box<dyn Any> = sim.take_overseer();
    overseer.downcast().expect("that of slac")
}

/// The counters of the first block.
fn gauge(sim: &mut Simulation) -> &mut Gauge {
    let agents: &mut dyn Any = sim.blocks[0].policy_mut().agents.as_deref_mut().expect("one per block");
    agents.downcast_mut().expect("those of slac")
}

/// The credits of an output of the first block.
fn credits(sim: &mut Simulation, o: usize) -> &mut [u16] {
    let block: &mut dyn Any = &mut *sim.blocks[0];
    let block = block.downcast_mut::<NarrowBlock>().expect("at most 64 ports");
    // SAFETY: the test writes only credits, and no code uses credits as indices of records.
    &mut unsafe { block.damage() }.outs[o].credits
}

/// Number of stages that are on, as the routing of packets sees it.
fn found(sim: &Simulation) -> u8 {
    let packet = Packet { dest: sim.net.coords[11], ..Packet::default() };
    sim.net.routing.steps(sim.net.coords[0], &packet, 1)[0].after.lane
}

/// For each stage, the number of its channels in state `state`.
fn count(sequencer: &Sequencer, sim: &Simulation, state: LinkState) -> Vec<usize> {
    let states: Vec<u8> = sim.blocks.iter().flat_map(|b| b.outs().take(b.inputs())).map(|out| out.state).collect();
    let is = |&&channel: &&u32| states[channel as usize] == state.number();
    sequencer.stages.iter().map(|channels| channels.iter().filter(is).count()).collect()
}

fn used(routers: &[(usize, f64)]) -> [f64; 12] {
    let mut used = [0.5; 12];
    routers.iter().for_each(|&(router, share)| used[router] = share);
    used
}

#[test]
fn stages_go_on_and_off_as_routers_ask() {
    let mut sim = network(3);
    let mut s = sequencer(&mut sim);
    assert_eq!(s.stages.iter().map(Vec::len).collect::<Vec<_>>(), [28, 20, 12]);
    assert_eq!((count(&s, &sim, LinkState::On), count(&s, &sim, LinkState::Off)), (vec![28, 0, 0], vec![0, 20, 12]));

    // at utilisations exactly equal to the thresholds nothing changes
    decide(&mut s, &mut sim, 100, used(&[(3, 0.75)]));
    assert!(s.asked.is_empty() && s.change.is_none());
    // if several routers could request a stage, the router with the highest utilisation does (the lowest number among equals); the stage
    // has 10 links, which wake for 10 cycles each
    decide(&mut s, &mut sim, 200, used(&[(3, 0.8), (5, 0.9), (9, 0.9)]));
    assert_eq!(s.asked, [Some(5)]);
    assert!(matches!(s.change, Some(Change::Warming { until: 300 })));
    assert_eq!((count(&s, &sim, LinkState::Waking), found(&sim)), (vec![0, 20, 0], 1));
    s.window_end = 300;
    s.act(&mut sim.whole(), 300);
    assert_eq!((count(&s, &sim, LinkState::On), found(&sim), s.rests_until), (vec![28, 20, 0], 2, 400));

    // only router 5, which requested this stage, can switch it off, so the low utilisation of router 9 has no effect; router 9 requests the
    // next stage
    decide(&mut s, &mut sim, 400, used(&[(9, 0.1)]));
    assert!(s.change.is_none());
    decide(&mut s, &mut sim, 500, used(&[(9, 0.76), (5, 0.1)]));
    assert_eq!((&s.asked[..], s.next()), (&[Some(5), Some(9)][..], 560.min(s.window_end)));
    s.window_end = 600;
    s.act(&mut sim.whole(), 560);
    assert_eq!((count(&s, &sim, LinkState::On), found(&sim)), (vec![28, 20, 12], 3));

    // all stages are on, so nothing more can be switched on; nothing goes off while a router requests a stage
    decide(&mut s, &mut sim, 700, used(&[(1, 1.0), (9, 0.0)]));
    assert!(s.change.is_none());
    // the stage that was switched on last goes off first, so router 5 must wait until router 9 has released that stage
    decide(&mut s, &mut sim, 800, used(&[(5, 0.0)]));
    assert!(s.change.is_none());
    decide(&mut s, &mut sim, 900, used(&[(9, 0.24)]));
    assert_eq!((&s.asked[..], found(&sim)), (&[Some(5)][..], 2));
    assert_eq!(count(&s, &sim, LinkState::Draining), [0, 0, 12]);
    s.window_end = 1000;
    s.act(&mut sim.whole(), 1000);
    assert_eq!(count(&s, &sim, LinkState::Off), [0, 0, 12]);
}

#[test]
fn a_stage_that_no_router_asked_for_goes_when_all_are_calm() {
    let mut sim = network_from("all_on", 2);
    let mut s = sequencer(&mut sim);
    assert_eq!((count(&s, &sim, LinkState::On), found(&sim), &s.asked[..]), (vec![28, 20, 12], 3, &[None, None][..]));
    // one router has a higher utilisation than all others
    let mut one = [0.1; 12];
    one[0] = 0.25;
    decide(&mut s, &mut sim, 100, one);
    assert!(s.change.is_none());
    decide(&mut s, &mut sim, 200, [0.2; 12]);
    assert_eq!((count(&s, &sim, LinkState::Draining), found(&sim)), (vec![0, 0, 12], 2));
    s.window_end = 300;
    s.act(&mut sim.whole(), 300);
    // the router that requests the stage now also decides when it goes off
    decide(&mut s, &mut sim, 500, used(&[(7, 0.8)]));
    assert_eq!(s.asked, [None, Some(7)]);
}

#[test]
fn a_stage_stays_lit_for_packets_that_may_need_it() {
    let mut sim = network(1);
    let mut s = sequencer(&mut sim);
    s.asked = vec![Some(5), Some(9)];
    s.change = Some(Change::Warming { until: 100 });
    s.act(&mut sim.whole(), 100);
    decide(&mut s, &mut sim, 300, used(&[(9, 0.0)]));
    // of two packets in flight, one may use all three stages, and the other only two
    [3, 2].into_iter().for_each(|stages| gauge(&mut sim).pin(stages));
    s.window_end = 400;
    s.act(&mut sim.whole(), 400);
    assert_eq!(count(&s, &sim, LinkState::Draining), [0, 0, 12]);
    gauge(&mut sim).deliver(3);
    // a credit of stage 3 is still in flight
    let o = s.stages[2][7] as usize;
    credits(&mut sim, o)[0] -= 1;
    s.act(&mut sim.whole(), 500);
    assert_eq!(count(&s, &sim, LinkState::Draining), [0, 0, 12]);
    credits(&mut sim, o)[0] += 1;
    s.act(&mut sim.whole(), 600);
    // stage 2, which the test skipped, was never on
    assert_eq!(count(&s, &sim, LinkState::Off), [0, 20, 12]);
}

/// Number of flits in the queues of all inputs.
fn queued(sim: &Simulation) -> u64 {
    let block = &sim.blocks[0];
    let mut flits = 0;
    for mut segment in block.ins().flat_map(|port| port.head.iter().copied()) {
        while segment != NONE {
            let found = &block.records().segments.items[segment as usize];
            flits += u64::from(found.arrived - found.sent);
            segment = found.next;
        }
    }
    flits
}

#[test]
fn utilisation_is_the_mean_share_of_the_queues_that_is_occupied() {
    // `twin` is the same network, whose buffers the test reads one by one for comparison
    let (mut sim, mut twin) = (network(1), network(1));
    let (mut s, _) = (sequencer(&mut sim), sequencer(&mut twin));
    let (mut stayed, mut left) = (0, 0);
    for cycle in 1..=400 {
        sim.advance(cycle);
        twin.advance(cycle);
        stayed += queued(&twin);
        if cycle.is_multiple_of(100) {
            s.read(&mut sim.whole(), cycle);
            let ports: Vec<(u32, u8)> = twin.blocks[0].ins().map(|port| (port.router, port.class)).collect();
            let (mut expected, mut in_all) = ([0.0f64; 12], 0);
            for (i, &(router, class)) in ports.iter().enumerate() {
                let held = gauge(&mut twin).flit_cycles(i, cycle);
                in_all += held;
                if class > 0 {
                    // each input has 6 VCs of 32 flits
                    let used = &mut expected[router as usize];
                    *used = used.max(held as f64 / (100 * 6 * 32) as f64);
                }
            }
            assert_eq!(s.used, expected);
            // for each cycle, the flits that are in the queues at its end, and the flits that departed in it
            let hops = twin.blocks[0].observers().tally.flit_hops;
            assert_eq!(in_all, stayed + hops - left);
            (stayed, left) = (0, hops);
        }
    }
    assert!(s.used.iter().any(|&used| used > 0.0) && s.used.iter().all(|&used| used <= 1.0), "{:?}", s.used);
}
