//! Tests the data that the planner of the policy `fewest_links` computes from its counts: the traffic matrix, the lengths of bursts, and
//! the utilisation threshold, which is lower if bursts are longer.

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use std::any::Any;
use weft_models::power::fewest_links::planner::Planner;

/// The planner after `cycles` cycles, in a row of 8 routers with 8 terminals each. Only the links of the star (those of the hub) are on.
fn planner(flits: u32, load: f64, cycles: u64) -> Planner {
    let topology = serde_json::from_str(r#"{"hyperx": {"widths": [8], "terminals_per_router": 8}}"#).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_str(r#"{"pal": {}}"#).unwrap()).unwrap();
    let keys = r#"{"activation_epoch": "500cycles", "deactivation_epoch": "100000cycles", "hub": 2}"#;
    spec.policy = serde_json::from_str(&format!(r#"{{"fewest_links": {keys}}}"#)).unwrap();
    spec.links.iter_mut().for_each(|link| link.buffer = 64);
    spec.set_packet(flits);
    spec.set_load(load);
    spec.phases.window = 2 * cycles;
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    sim.advance(cycles);
    let overseer: Box<dyn Any> = sim.take_overseer();
    *overseer.downcast().expect("that of fewest_links")
}

#[test]
fn the_matrix_is_what_members_send_each_other_whatever_way_it_takes() {
    for flits in [1, 5, 40] {
        let Planner { lines, epochs, .. } = planner(flits, 0.05, 99_000);
        assert_eq!(epochs, 197);
        // each of the 8 terminals of a router sends load 0.05 to 63 others, of which 8 are at a given router: 8 * 0.05 * 8 / 63 flits per
        // cycle
        let expected = 0.05 * 64.0 / 63.0;
        let line = &lines[0];
        let found: Vec<f64> =
            line.pairs().map(|(from, to)| line.gathered[from * 8 + to] / epochs as f64 / expected).collect();
        let mean = found.iter().sum::<f64>() / 56.0;
        assert!((mean - 1.0).abs() < 0.02, "{flits} flits: {mean}");
        // tolerance: a pair of routers sends 5,000 flits, that is 5000 / flits packets; four standard deviations of their number are
        // permitted
        let most = 4.0 * (f64::from(flits) / 5000.0).sqrt();
        assert!(found.iter().all(|share| (share - 1.0).abs() < most), "{flits} flits: {found:?}");
    }
}

#[test]
fn a_burst_is_half_a_packet_of_many_flits_and_one_flit_for_packets_of_one() {
    for (flits, least, most) in [(1, 1.0, 1.0), (8, 2.0, 8.0), (40, 10.0, 40.0)] {
        let Planner { lines, .. } = planner(flits, 0.05, 60_000);
        let burst = lines[0].burst(500);
        assert!((least..=most).contains(&burst), "{flits} flits: {burst}");
    }
}

#[test]
fn where_flits_come_together_the_mark_is_lower_so_that_packets_wait_as_long() {
    let Planner { policy, mut lines, .. } = planner(1, 0.05, 1000);
    let line = &mut lines[0];
    let mut last = 1.0;
    for burst in [1.0, 2.0, 16.0, 500.0, 5000.0] {
        // counts of an epoch in which 100 flits pass in bursts of `burst` flits
        (line.usual, line.variance) = (100.0 / 500.0, 2.0 * burst * 100.0 / 500.0_f64.powi(2));
        assert!((line.burst(500) - burst).abs() < 1e-9);
        let mark = line.mark(&policy, 1.0);
        // u / (1 - u) bursts wait for a channel of utilisation u; their time is compared with the flight time of a packet (32 cycles) plus
        // one burst
        let waits = |mark: f64, burst: f64| mark / (1.0 - mark) * burst / (32.0 + burst);
        assert!((waits(mark, burst) / waits(0.75, 1.0) - 1.0).abs() < 1e-9, "{burst}: {mark}");
        assert!((waits(line.mark(&policy, 1.1), burst) / waits(0.75, 1.0) - 1.1).abs() < 1e-9, "{burst}");
        assert!(mark < last, "{burst}: {mark}");
        last = mark;
    }
}
