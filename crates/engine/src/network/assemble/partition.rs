//! Divides the routers into blocks.

use crate::network::spec::Spec;
use crate::network::transit::packets_under_way;
use weft_api::routing::Needs;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// The first router of every block, and the end of the last block. `whole_groups`: routers read the queues of their
/// group, so each group must lie in one block, and there can't be more blocks than groups.
pub(crate) fn partition(graph: &Graph, blocks: usize, whole_groups: bool) -> Vec<u32> {
    let routers = graph.routers();
    let grain = graph.structure().grain();
    let units = routers.div_ceil(grain);
    let blocks = (blocks.min(MAX_BLOCKS) as u32).clamp(1, if whole_groups { units } else { routers });
    // groups stay whole as long as there are at least as many groups as blocks
    let (units, grain) = if blocks <= units { (units, grain) } else { (routers, 1) };
    (0..=blocks)
        .map(|b| (u64::from(b) * u64::from(units) / u64::from(blocks)) as u32 * grain)
        .map(|r| r.min(routers))
        .collect()
}

/// Most blocks. More would cost memory and time at the barrier, and no machine has so many cores.
const MAX_BLOCKS: usize = 4096;

/// Bytes of a second-level cache that a network may fill.
const CACHE: u64 = 3 << 19;

/// Whether the state of the ports and the packets under way together do not fit into the second-level cache.
pub(super) fn is_larger_than_cache(spec: &Spec) -> bool {
    let of_ports = port_bytes(&spec.graph);
    // where the ports alone are too many, no distances are measured
    of_ports > CACHE || of_ports + (packets_under_way(spec) * size_of::<Packet>() as f64) as u64 > CACHE
}

/// Bytes of the input and output units.
fn port_bytes(graph: &Graph) -> u64 {
    u64::from(graph.port_base(graph.routers())) * 192
}

/// Every two blocks have memory for mail, which with more blocks than this would be larger than the state of the ports.
const MOST_BY_SIZE: usize = 256;

/// Number of blocks with which the state of a block fits into the second-level cache, if the whole network does not.
pub(crate) fn blocks_by_size(graph: &Graph) -> usize {
    let bytes = port_bytes(graph);
    if bytes < 8 << 20 { 1 } else { ((bytes / (768 << 10)) as usize).min(MOST_BY_SIZE) }
}

/// Refuses interleaved groups under a routing that reads the queues of its group: each group must lie in one block.
pub(super) fn refuse_split_groups(graph: &Graph, needs: &Needs, name: &str) -> Result<(), Refusal> {
    let together = graph.structure().groups.as_ref().is_some_and(|groups| groups.run().is_some());
    if needs.reads_group && !together {
        let what = format!(
            "{name} reads the queues of all routers of a group, but the topology {} has no groups of equal size with \
             consecutive router numbers",
            graph.topology_name()
        );
        return Err(Refusal::new(format!("routing.{name}"), what, "take another topology, or another routing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::{GraphBuilder, Groups, Peer, Port, Structure};

    /// Four routers in a ring, router r in group r mod 2 or r / 2.
    fn two_groups(interleaved: bool) -> Graph {
        let mut builder = GraphBuilder::new("pairs", ["side"]);
        let port = |peer, class| Port { peer, class };
        for r in 0..4 {
            let side = |router, number| port(Peer::Router { router, port: number }, 1);
            builder.router([port(Peer::Terminal(r), 0), side((r + 1) % 4, 2), side((r + 3) % 4, 1)]);
        }
        let places = (0..4).map(|r| if interleaved { (r % 2, r / 2) } else { (r / 2, r % 2) }).collect();
        let groups = Groups { count: 2, places, complete: None, global: None };
        builder.build(Structure::of_groups(groups), "pairs").unwrap()
    }

    #[test]
    fn a_routing_that_reads_its_group_is_refused_where_a_block_could_split_one() {
        let needs = Needs { reads_group: true, ..Needs::default() };
        assert_eq!(refuse_split_groups(&two_groups(false), &needs, "toy"), Ok(()));
        assert_eq!(partition(&two_groups(false), 4, true), [0, 2, 4], "no more blocks than groups");
        let refusal = refuse_split_groups(&two_groups(true), &needs, "toy").unwrap_err();
        assert!(refusal.what.contains("has no groups of equal size with consecutive router numbers"), "{refusal}");
        assert_eq!(refuse_split_groups(&two_groups(true), &Needs::default(), "toy"), Ok(()));
    }

    /// Packets on long links fill a cache that the state of the ports does not fill.
    #[test]
    fn packets_under_way_count_as_state() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}}"#;
        let topology = serde_json::from_str(dragonfly).expect("a topology");
        let routing = serde_json::from_str(r#"{"dragonfly_minimal": {}}"#).expect("a routing");
        let mut spec = Spec::new(&topology, routing).expect("a spec");
        assert!(port_bytes(&spec.graph) < CACHE);
        let mut is_larger = |load, latency| {
            spec.set_load(load);
            spec.links.iter_mut().for_each(|link| link.latency = latency);
            is_larger_than_cache(&spec)
        };
        assert!(is_larger(0.3, 100) && !is_larger(0.01, 100) && !is_larger(0.3, 1));
        spec.set_packet(64);
        assert!(!is_larger_than_cache(&spec));
    }
}
