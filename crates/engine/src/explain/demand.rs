//! Computes the traffic matrix between routers, for analyses that need no simulation.

use crate::network::spec::Spec;
use weft_units::Refusal;

/// Maximum number of entries in a matrix (4,096 routers); Weft refuses a larger matrix.
const MAX_ENTRIES: usize = 1 << 24;

/// The offered flits per cycle from the terminals of each router (row) to the terminals of each router (column). The matrix contains the
/// load of each job's first phase, without replies. The diagonal has the traffic between terminals of the same router.
pub fn demand(spec: &Spec) -> Result<Vec<Vec<f64>>, Refusal> {
    let graph = &*spec.graph;
    let routers = graph.routers() as usize;
    if routers * routers > MAX_ENTRIES {
        let what = format!("a traffic matrix of {routers} x {routers} routers has {} entries", routers * routers);
        let help = format!("choose a network of at most {} routers", MAX_ENTRIES.isqrt());
        return Err(Refusal::new("topology", what, help));
    }
    let router_of = |terminal: u32| graph.terminal_at(terminal).0 as usize;
    let mut rates = vec![vec![0.0; routers]; routers];
    for job in &spec.traffic.jobs {
        let first = &job.phases[0];
        for (rank, (&source, &load)) in job.terminals.iter().zip(&first.load).enumerate() {
            let row = &mut rates[router_of(source)];
            for (target, share) in first.pattern.distribution(rank as u32) {
                row[router_of(job.terminals[target as usize])] += load * share;
            }
        }
    }
    Ok(rates)
}
