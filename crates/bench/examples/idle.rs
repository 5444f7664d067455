//! Measures the cost of idle time: `cargo run --release -p weft-bench --example idle [CYCLES] [POLICY]`. The program simulates a network
//! that sends only in the first 100 and in the last 100 of `CYCLES` cycles (10^9 by default). Then the program prints the CPU time for each
//! policy.
//!
//! Each example of a policy runs on the first of four small networks that is compatible with it. If a policy acts in each epoch, 10^9
//! cycles take minutes: give a smaller number of cycles.

use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use weft_engine::power::PolicyConfig;
use weft_engine::spec::{Execution, LoadPhase};
use weft_engine::{Simulation, Spec};

const NETWORKS: [(&str, &str); 4] = [
    (r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 2}}"#, r#"{"dimension_order": {}}"#),
    (r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 2}}"#, r#"{"pal": {}}"#),
    (r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 2}}"#, r#"{"slac": {}}"#),
    (r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#, r#"{"up_down": {}}"#),
];

fn spec((topology, routing): (&str, &str), policy: &PolicyConfig, cycles: u64) -> Result<Spec, Box<dyn Error>> {
    let mut spec = Spec::new(&serde_json::from_str(topology)?, serde_json::from_str(routing)?)?;
    spec.policy = policy.clone();
    spec.set_load(0.2);
    spec.links.iter_mut().for_each(|link| (link.vcs, link.buffer) = (link.vcs.max(6), 32));
    let job = &mut spec.traffic.jobs[0];
    let first = job.phases[0].clone();
    let phase = |from: u64, load: f64| LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() };
    job.phases = vec![phase(0, 0.2), phase(100, 0.0), phase(cycles - 100, 0.2)];
    (spec.phases.warmup, spec.phases.window) = (0, cycles);
    Ok(spec)
}

/// CPU time that this process has used so far \[s\].
fn seconds() -> Result<f64, Box<dyn Error>> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(time.tv_sec() as f64 + 1e-9 * time.tv_nsec() as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let cycles: u64 = arguments.next().map_or(Ok(1_000_000_000), |text| text.parse())?;
    let only = arguments.next();
    if cycles < 1000 {
        return Err(format!("{cycles} cycles are too few: write 1000 or more").into());
    }
    for policy in PolicyConfig::examples() {
        if only.as_ref().is_some_and(|only| only != policy.name()) {
            continue;
        }
        let text = serde_json::to_string(&policy)?;
        let specs = NETWORKS.iter().map(|network| spec(*network, &policy, cycles)).collect::<Result<Vec<_>, _>>()?;
        let Some(spec) = specs.iter().find(|spec| weft_engine::check(spec).is_ok()) else {
            println!("{text}: no network of this program fits it");
            continue;
        };
        let mut simulation = Simulation::new(spec, Execution::new(1, 1))?;
        let before = seconds()?;
        simulation.advance(cycles);
        let seconds = seconds()? - before;
        println!("{seconds:9.3} s, {:8.3} ns per cycle: {text}", seconds / cycles as f64 * 1e9);
    }
    Ok(())
}
