//! TCEP: what it switches, when, and what it never does.

mod common;
use common::*;
use weft_engine::power::LinkState;
use weft_engine::{Outcome, Spec};

/// Mean share of the managed channels that are not off.
fn share_on(out: &Outcome) -> f64 {
    let managed: Vec<_> = out.channels.iter().filter(|c| c.class > 0).collect();
    let off: u64 = managed.iter().map(|c| c.cycles[LinkState::Off as usize]).sum();
    1.0 - off as f64 / (managed.len() as u64 * out.window) as f64
}

fn tcep(spec: &mut Spec, keys: &str) {
    policy(spec, &format!(r#"{{"tcep": {{{keys}}}}}"#));
}

#[test]
fn look() {
    for load in [0.02, 0.3] {
        for pattern_json in [UNIFORM_SELF, TORNADO] {
            let mut spec = butterfly(PAL_HISTORY);
            tcep(&mut spec, "");
            pattern(&mut spec, pattern_json);
            spec.set_load(load);
            phases(&mut spec, 30_000, 10_000);
            let t = std::time::Instant::now();
            let out = run(&spec);
            println!("{load} {pattern_json} {:?} on {:.3} accepted {:.4} latency {:.2} hops {:.3} {:?} {:?}", out.ending, share_on(&out), accepted(&out),
                out.sums.latency as f64 / out.sums.packets as f64, out.sums.hops as f64 / out.sums.packets as f64, out.control, t.elapsed());
        }
    }
}
