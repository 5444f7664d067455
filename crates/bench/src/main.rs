//! Speed of the engine.

mod cases;

use std::time::Instant;
use weft_engine::{Simulation, spec::Execution};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let filter = args.first().cloned().unwrap_or_default();
    let env = |k: &str| std::env::var(k).ok().and_then(|t| t.parse::<u64>().ok());
    for case in cases::all().iter().filter(|c| c.name.contains(&filter)) {
        let mut case = case.clone();
        if let Some(c) = env("CYCLES") { case.cycles = c; }
        if let Some(c) = env("WARM") { case.warmup = c; }
        let spec = case.spec().unwrap();
        let threads = std::env::var("THREADS").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
        let blocks = std::env::var("BLOCKS").ok().and_then(|t| t.parse().ok()).unwrap_or(0);
        let t0 = Instant::now();
        let mut sim = Simulation::<1, 8>::new(&spec, Execution { threads, blocks }).unwrap();
        let setup = t0.elapsed();
        sim.advance(case.warmup);
        let before = sim.flit_hops();
        let t0 = Instant::now();
        sim.advance(case.warmup + case.cycles);
        let t = t0.elapsed().as_secs_f64();
        let hops = (sim.flit_hops() - before) as f64;
        println!("total hops {}", sim.flit_hops());
        println!("{:40} setup {:6.2}s {:8.1} ns/flit-hop {:10.0} cycles/s  {:.1} M hops/s", case.name, setup.as_secs_f64(), t / hops * 1e9, case.cycles as f64 / t, hops / t / 1e6);
    }
}
