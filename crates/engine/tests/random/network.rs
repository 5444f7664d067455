//! Random choices of links, routers, power policies and faults.

use super::Drawn;
use crate::common::*;
use weft_engine::Spec;
use weft_engine::age::Priority;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::power::PolicyConfig;
use weft_engine::spec::{Fault, FaultTimes, FlowControl, InputSpeedup, Part, Rate, channel_ends};

fn least_buffer(spec: &Spec) -> u32 {
    if spec.router.flow_control == FlowControl::VirtualCutThrough { spec.traffic.longest() } else { 1 }
}

pub fn links(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let least = least_buffer(spec);
    for link in &mut spec.links {
        link.latency = 1 + draw.below(12) as u64;
        link.credit_latency = 1 + draw.below(12) as u64;
        link.vcs = (link.vcs + draw.below(4) as u8).min(16);
        link.buffer = least * (1 + draw.below(2) as u32) + draw.below(20) as u32;
    }
    Ok(())
}

/// Sets rates other than one flit per cycle for links of some classes.
pub fn rates(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    for link in &mut spec.links {
        if draw.one_in(2) {
            let (flits, cycles) = draw.of(&[(1, 2), (1, 3), (2, 3), (3, 4), (5, 7), (3, 2), (2, 1)]);
            link.rate = Rate::new(flits, cycles, "links")?;
        }
    }
    Ok(())
}

pub fn router(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let router = &mut spec.router;
    router.delay = draw.below(4) as u64;
    router.routing_delay = if draw.one_in(3) { draw.below(router.delay as usize + 1) as u64 } else { 0 };
    router.speedup = 1 + draw.below(3) as u8;
    router.credit_delay = draw.below(3) as u64;
    router.ejection_delay = draw.below(4) as u64;
    Ok(())
}

pub fn turn_round(spec: &mut Spec, _: &mut Draw) -> Drawn {
    spec.router.vc_realloc = 1;
    Ok(())
}

pub fn hold_switch(spec: &mut Spec, _: &mut Draw) -> Drawn {
    spec.router.hold_switch = true;
    Ok(())
}

pub fn outputs(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    spec.router.output_buffer = draw.one_in(2).then(|| 1 + draw.below(8) as u32);
    spec.router.ejection_vcs = draw.one_in(2).then(|| 1 + draw.below(2) as u8);
    Ok(())
}

pub fn input_speedup(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    spec.router.input_speedup = draw.of(&[InputSpeedup::Vcs, InputSpeedup::One]);
    Ok(())
}

pub fn priority(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    spec.router.priority = draw.of(&[Priority::Age, Priority::NetworkAge, Priority::Transit]);
    Ok(())
}

pub fn allocator(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    spec.router.allocator = draw.of(&AllocatorConfig::examples());
    Ok(())
}

/// Chooses one of the compatible policies, and the link classes that it manages.
pub fn policy(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let mut all = PolicyConfig::examples();
    let turn = draw.below(all.len());
    all.rotate_left(turn);
    let usual = (spec.policy.clone(), spec.managed.clone());
    for policy in all {
        spec.policy = policy;
        if spec.switches_links() && manage_what_can_be(spec) {
            let (managed, class) = (spec.managed.clone(), draw.below(spec.managed.len()));
            spec.managed[class] ^= true;
            if !spec.managed.contains(&true) || weft_engine::check(spec).is_err() {
                spec.managed = managed;
            }
            return Ok(());
        }
        spec.managed.clone_from(&usual.1);
    }
    (spec.policy, spec.managed) = usual;
    Err(refused("policy", "no policy goes with the routing"))
}

/// Makes a few links and routers fail. Most of them work again later. Faults that a scenario must not contain are left out.
pub fn faults(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let mut parts: Vec<Part> = spec.graph.links().map(|link| Part::Link(link.ends.map(|(router, _)| router))).collect();
    parts.dedup();
    parts.extend((0..spec.graph.routers()).map(Part::Router));
    spec.fault_times = FaultTimes { patience: draw.of(&[0, 40, 400]), rebuild_delay: draw.of(&[0, 30, 300]) };
    let mut why = Ok(());
    for _ in 0..1 + draw.below(4) {
        let (what, at) = (draw.of(&parts), 1 + draw.below(1500) as u64);
        let until = (!draw.one_in(6)).then(|| at + draw.gap(200.0));
        spec.faults.push(Fault { what, at, until });
        if let Err(refusal) = spec.check_faults() {
            spec.faults.pop();
            why = Err(refusal);
        }
    }
    if spec.faults.is_empty() { why } else { more_vcs_if_paths_grow(spec) }
}

fn more_vcs_if_paths_grow(spec: &mut Spec) -> Drawn {
    if weft_engine::check(spec).is_err_and(|refusal| refusal.what.contains("after some links have failed")) {
        spec.links.iter_mut().for_each(|link| link.vcs = link.vcs.max(8));
    }
    Ok(())
}

/// Adds bundles: sets of channels, for which the run counts the cycles with all channels off.
pub fn bundles(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let rows = channel_ends(&spec.graph).len();
    let set = |draw: &mut Draw| {
        let mut set: Vec<u32> = (0..1 + draw.below(3)).map(|_| draw.below(rows) as u32).collect();
        set.sort_unstable();
        set.dedup();
        set
    };
    spec.bundles = (0..5).map(|_| set(draw)).collect();
    Ok(())
}

fn refused(path: &str, what: &str) -> weft_units::Refusal {
    weft_units::Refusal::new(path, what, "draw another one")
}
