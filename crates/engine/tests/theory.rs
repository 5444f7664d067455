//! Theory first: zero-load latencies, channel-load bounds and limits, each with its derivation.

mod common;
use common::*;
use weft_engine::outcome::Ending;

#[test]
fn smoke() {
    let mut spec = butterfly(DOR);
    spec.set_load(0.3);
    let out = run(&spec);
    assert_eq!(out.ending, Ending::Drained);
    println!("{:?} {}", out.sums, out.sums.latency as f64 / out.sums.packets as f64);
}
