//! Routing by a Python function: a function of the user chooses the hops of a packet, to try an idea without Rust.
//!
//! # Source
//! The user's file. Routing function and choice by cost as in W. J. Dally, B. Towles, "Principles and Practices of
//! Interconnection Networks" (2004), chapters 8 to 10.
//!
//! # Parameters
//! `function`: file and name, `FILE.py:NAME`, relative to the scenario. `parameters`: arguments of the function. `sensor`: the sensor that
//! measures the congestion passed to the function as `queues` \[flits\] (`used_credits`, `history_window`, `output_queue`).
//!
//! # Guarantees
//! Before the run, Weft calls the function for every router, destination router and VC class of the last hop that a packet can reach. A
//! port that does not exist, an exception and a loop are refused, and the message names the packet, the router and the line. Since loops
//! are refused, every packet arrives at its destination. The deadlock check follows all hops that the function returns. The results of a
//! function without `queues` become a table: if it returns several hops, Weft chooses one at random for each packet. During the run, Weft
//! calls a function with `queues` once per packet and router, and takes the hop of least cost. A function with `queues` may return only
//! hops that it also returns with empty queues. Results are the same for any number of threads and blocks. The hash of a point also depends
//! on the text of the file. With faults, a function without `queues` loses packets, because Weft discards each packet whose link is broken.
//! With faults, a function with `queues` reroutes packets: a packet whose link is broken takes another hop that the function returns.
//!
//! # Not modelled
//! Paths that depend on the terminals or on the source of a packet; detours over an intermediate that is stored in the packet. Changes of
//! packages that the file imports: the hash of a point does not depend on their versions.
//!
//! # Validation
//! `tests/test_python_routing.py` checks that dimension order written as a function gives the same results as `dimension_order`. The same
//! Python tests check that each invalid function is refused, and that threads, blocks and checkpoints have no effect. This routing was not
//! compared with another simulator.

use super::chooser::{Chooser, Fault};
use super::function::{Arguments, Known, PythonFunction};
use super::routes::{Routes, Row};
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weft_api::base::hash::below;
use weft_api::examples::{Accepts, Example};
use weft_api::routing::{Decides, Hop, Needs, Routing, RoutingModel, draw};
use weft_api::sensor::Sensor;
use weft_api::state::Packet;
use weft_api::view::View;
use weft_api::walk::{Cost, Proof, Step};
use weft_engine::routing::RoutingConfig;
use weft_topology::{Graph, Peer};
use weft_units::{InputFile, Refusal, Remark, add_model};

weft_units::codes! {
    FUNCTION_PER_HOP = "function_per_hop", Hint,
        means: "A routing in Python reads queues. Weft calls the function for each packet at each router, so the run \
                is slow.",
        computed: "The function has the argument `queues`.",
        helps: "Run several points at the same time, or write the routing in Rust.";
}

add_model! { RoutingConfig: "python" => PythonRouting, declares PythonRouting::ABOUT }

/// Hops that a Python function returns. Weft calls the function before the run. If the function reads queues, Weft also calls it in the
/// cycle loop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonRouting {
    /// File and name of the function, relative to the scenario.
    pub function: PythonFunction,
    /// Arguments of the function, by name.
    #[serde(default)]
    pub parameters: Arguments,
    /// Sensor that measures the congestion of each port, which the function reads as `queues`.
    #[serde(default = "used_credits")]
    pub sensor: Sensor,
    /// The error of the first failed call of the function in a run of this configuration.
    #[serde(skip)]
    pub fault: Arc<Fault>,
}

fn used_credits() -> Sensor {
    Sensor::UsedCredits
}

/// Dotted path of the function in a scenario, for messages.
pub const PATH: &str = "routing.python.function";

type Found = (Arc<Routes>, Option<Arc<Chooser>>);

/// The cached tables of hops, by the identity of their function.
static TABLES: Known<Found> = Known::new();

impl RoutingModel for PythonRouting {
    type Routing = Runtime;
    const ROUTES: &'static str = "any graph";

    fn fits(_: &Graph) -> bool {
        true
    }

    fn table_bytes(&self, graph: &Graph) -> u64 {
        Routes::least_bytes(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let peers = peers(graph);
        let identity = format!("{} {}", self.function.identity(&self.parameters), fingerprint(graph, &peers));
        let (routes, chooser) = TABLES.get(identity, || self.evaluate(graph, peers))?;
        let mut classes = vec![routes.classes(); graph.class_names().len()];
        classes[0] = 1;
        Ok(Runtime { classes, routes, chooser, sensor: self.sensor, fault: self.fault.clone() })
    }

    fn examples() -> Vec<Example<Self>> {
        let text: &[u8] = b"def next_hops(router, packet):\n    return router.port_to(packet.destination)\n";
        let function = PythonFunction::new(InputFile::new("direct.py", text), "next_hops");
        let (parameters, fault) = (Arguments::new(), Arc::default());
        // all 4 routers are neighbours of each other, and the 2 terminals of each router share its links
        const MESH: &str = r#"{"hyperx": {"widths": [4], "terminals_per_router": 2}}"#;
        let example = Example::new(Self { function, parameters, sensor: Sensor::UsedCredits, fault }).only_on(&[MESH]);
        vec![example.bound(MESH, r#"{"tornado": {}}"#, Accepts::UpTo(1.0 / 2.0))]
    }
}

impl PythonRouting {
    fn evaluate(&self, graph: &Graph, peers: Vec<Vec<Option<u32>>>) -> Result<Found, Refusal> {
        let hosts: Vec<u32> = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).collect();
        let (rows, chooser): (Vec<Row>, Option<Py<PyAny>>) = self.function.ask(
            "weft.scenario.python_routes",
            "routes",
            &self.parameters,
            |facts| {
                facts.set_item("peers", &peers)?;
                facts.set_item("hosts", &hosts)?;
                facts.set_item("names", graph.router_names().unwrap_or_default())?;
                facts.set_item("widths", graph.structure().widths())
            },
            PATH,
        )?;
        Ok((Arc::new(Routes::new(peers, &hosts, &rows)?), chooser.map(|chooser| Arc::new(Chooser::new(chooser)))))
    }
}

/// For each port of each router, the router to which it leads.
fn peers(graph: &Graph) -> Vec<Vec<Option<u32>>> {
    let peer = |peer: Peer| match peer {
        Peer::Router { router, .. } => Some(router),
        Peer::Terminal(_) | Peer::Unused => None,
    };
    (0..graph.routers()).map(|router| graph.ports(router).iter().map(|port| peer(port.peer)).collect()).collect()
}

/// A hash of the graph's properties that a function can read, so that a cached table is used only for the same graph.
fn fingerprint(graph: &Graph, peers: &[Vec<Option<u32>>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (peers, graph.router_names(), graph.structure().widths()).hash(&mut hasher);
    (0..graph.routers()).for_each(|router| graph.terminals_of(router).hash(&mut hasher));
    hasher.finish()
}

/// The routing after it is built for one network. The field `lane` of a packet contains the VC class of its last hop, plus 1.
#[derive(Debug)]
pub struct Runtime {
    classes: Vec<u8>,
    routes: Arc<Routes>,
    /// Calls the Python function during the run. `None` if the function does not read queues.
    chooser: Option<Arc<Chooser>>,
    sensor: Sensor,
    fault: Arc<Fault>,
}

impl Runtime {
    /// The possible hops of a packet at a router, in the order of their cost rank in an idle network.
    fn hops(&self, at: u64, packet: &Packet) -> &[(Hop, u32)] {
        self.routes.hops(at as u32, packet.dest as u32, packet.lane)
    }

    /// Picks one of `count` hops of equal cost.
    fn pick(at: u64, packet: &Packet, seed: u64, count: usize) -> usize {
        if count == 1 { 0 } else { below(draw(seed, packet, at << 8 | u64::from(packet.lane)), count as u32) as usize }
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let reads = self.chooser.is_some();
        Needs {
            classes: self.classes.clone(),
            decides: if reads { Decides::AtHead } else { Decides::Ahead },
            sensor: reads.then_some(self.sensor),
            remembers: reads,
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        weft_api::coordinates::numbers(graph)
    }

    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        if self.chooser.is_some() {
            return None;
        }
        let hops = self.hops(at, packet);
        let hop = hops.get(Self::pick(at, packet, seed, hops.len().max(1)))?.0;
        packet.lane = hop.class + 1;
        Some(hop)
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let hops = self.hops(at, packet);
        let chosen = self.chooser.as_ref().filter(|_| !self.fault.is_set()).and_then(|chooser| {
            let queues = (0..self.routes.ports(at as u32)).map(|port| here.read(port)).collect();
            match chooser.choose(at as u32, queues, packet) {
                Ok(best) => best.get(Self::pick(at, packet, seed, best.len().max(1))).copied(),
                Err(refusal) => {
                    self.fault.set(refusal);
                    None
                }
            }
        });
        // after a failed call the run ends at its next progress report; until then any hop is acceptable
        chosen.or(hops.first().map(|&(hop, _)| hop)).unwrap_or(Hop::to_terminal(packet))
    }

    fn taken(&self, at: u64, packet: &mut Packet, hop: Hop) {
        if at != packet.dest {
            packet.lane = hop.class + 1;
        }
    }

    fn steps(&self, at: u64, packet: &Packet, _: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let step = |&(hop, rank): &(Hop, u32)| Step {
            hop,
            after: Packet { lane: hop.class + 1, ..*packet },
            cost: self.chooser.is_some().then_some(Cost { at, port: hop.port, hops: 1, bias: rank as i32 }),
        };
        self.hops(at, packet).iter().map(step).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Turns(Box::new(|turn| self.routes.every_turn(turn)))
    }

    fn draws_hops(&self) -> bool {
        self.chooser.is_none() && self.routes.has_choices()
    }

    fn draws_ties(&self) -> bool {
        self.chooser.is_some()
    }

    fn hints(&self, _: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        let what = "the function reads queues, so Weft calls it for each packet at each router, and the run is slow";
        let help = "run several points at the same time, or write the routing in Rust";
        self.chooser.iter().map(|_| Remark::new(&FUNCTION_PER_HOP, PATH, [], what, help)).collect()
    }

    fn cycle_remedy(&self) -> Option<&'static str> {
        Some(
            "return hops with a VC class that rises along each path, such as `(port, 0 if packet.vc is None else packet.vc + 1)`",
        )
    }

    fn own_rule(&self) -> Option<&'static str> {
        Some("the lowest cost from the Python function; a hash of the packet decides between equal costs")
    }
}
