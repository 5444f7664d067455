//! Builds the power policy of a run.

use crate::network::pairs;
use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::coordinates;
use weft_api::policy::{Policy, Schedule, Site};
use weft_units::Refusal;

/// Calls `f` with the data of the network that a policy needs.
pub(crate) fn with_site<T>(spec: &Spec, f: impl FnOnce(&Site) -> T) -> T {
    let latencies: Vec<_> = spec.links.iter().map(|link| (link.latency, link.credit_latency)).collect();
    let rates: Vec<_> = spec.links.iter().map(|link| link.rate).collect();
    let rooms: Vec<_> = spec.links.iter().map(|link| u64::from(link.vcs) * u64::from(link.buffer)).collect();
    f(&Site {
        graph: &spec.graph,
        coords: coordinates::of_all,
        managed: &spec.managed,
        latencies: &latencies,
        router_delay: spec.router.delay,
        rates: &rates,
        rooms: &rooms,
        cycle_fs: spec.cycle_fs,
        flit_bits: spec.flit_bits,
        modes: &spec.modes,
    })
}

/// The policy of a run. Refuses wrong parameters, and a routing that is incompatible with the policy.
pub(crate) fn build(spec: &Spec) -> Result<Arc<dyn Policy>, Refusal> {
    pairs::check_terminal_links(spec)?;
    check_both_ways(spec)?;
    let policy = with_site(spec, |site| spec.policy.model().build(site))?;
    pairs::check(spec)?;
    Ok(policy)
}

/// Refuses a policy that manages only one of the two channels of each link.
fn check_both_ways(spec: &Spec) -> Result<(), Refusal> {
    let managed = |class: u8| spec.managed[usize::from(class)];
    let Some(link) = spec.graph.links().find(|link| managed(link.class) != managed(link.back)) else { return Ok(()) };
    let name = |class: u8| &spec.graph.class_names()[usize::from(class)];
    let (with, without) = if managed(link.class) { (link.class, link.back) } else { (link.back, link.class) };
    let [a, b] = link.ends.map(|(router, _)| spec.graph.router_name(router));
    let (with, without) = (name(with), name(without));
    let what = format!(
        "the link between routers {a} and {b} has class {with} in one direction and class {without} in the other, but only {with} is \
         managed"
    );
    Err(Refusal::new("power.manages", what, format!("write both classes, {with} and {without}, or neither")))
}

impl Spec {
    /// The actions that the policy performs at fixed times; empty if the policy manages no links.
    pub fn schedule(&self) -> Result<Schedule, Refusal> {
        match self.managed.contains(&true) {
            true => self.policy.model().schedule(self.cycle_fs),
            false => Ok(Schedule::default()),
        }
    }

    /// Refuses a policy that cannot work on the network or is incompatible with the routing.
    pub fn check_policy(&self) -> Result<(), Refusal> {
        build(self).map(|_| ())
    }
}
