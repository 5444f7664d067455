//! The networks that the benchmark runs.

use crate::booksim::Peer;
use weft_engine::Spec;
use weft_engine::age::Priority;
use weft_engine::classes::Queueing;
use weft_engine::queueing::{QueueingConfig, dbbm::Dbbm};
use weft_engine::spec::{InputSpeedup, Rate};
use weft_units::Refusal;

/// A benchmark case: a network with a routing and a policy, at a load.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    network: &'static Network,
    routing: Routing,
    pub load: f64,
    pub packet_flits: u32,
    /// Number of cycles before the timed part. These cycles fill the network.
    pub warmup: u64,
    /// Number of cycles of the timed part.
    pub cycles: u64,
}

/// A topology with the parameters of its links, for several cases.
#[derive(Debug)]
struct Network {
    name: &'static str,
    topology: &'static str,
    vcs: u8,
    buffer: u32,
    /// Latency [cycles] of each link class, without the class of the terminal links; further classes use the last entry.
    latencies: &'static [u64],
    /// Rate of the same link classes, as (flits, cycles). Further classes use the last entry.
    rates: &'static [(u128, u128)],
    /// Sets the other keys of the spec in which the network differs from the engine's defaults.
    adjust: fn(&mut Spec),
    /// The keys that describe the network to BookSim; `None` if BookSim does not know the network.
    booksim: Option<&'static str>,
}

/// A routing with its configuration, its power policy, and its name in BookSim.
#[derive(Debug, Clone, Copy)]
struct Routing {
    name: &'static str,
    config: &'static str,
    policy: &'static str,
    booksim: Option<&'static str>,
}

const FULL: &[(u128, u128)] = &[(1, 1)];
const AS_IT_IS: fn(&mut Spec) = |_| ();

const BUTTERFLY_512: Network = Network {
    name: "butterfly-512",
    topology: r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#,
    vcs: 6,
    buffer: 32,
    latencies: &[10],
    rates: FULL,
    adjust: AS_IT_IS,
    booksim: Some("topology=flatfly;k=8;n=2;c=8;x=8;y=8;xr=8;yr=1"),
};
/// `BUTTERFLY_512` with two bandwidths: 1 flit per cycle, and 2 flits in 3 cycles (1.5 cycles per flit). It shows the cost of mixed speeds.
const BUTTERFLY_MIXED: Network =
    Network { name: "butterfly-512-mixed", rates: &[(1, 1), (2, 3)], booksim: None, ..BUTTERFLY_512 };
/// `BUTTERFLY_512` with 8 VCs, and each packet may use any VC. In `BUTTERFLY_8_QUEUES`, the residue of a packet's destination modulo 8
/// decides its lane.
const BUTTERFLY_1_QUEUE: Network = Network { name: "butterfly-512-1-queue", vcs: 8, booksim: None, ..BUTTERFLY_512 };
const BUTTERFLY_8_QUEUES: Network = Network {
    name: "butterfly-512-8-queues",
    adjust: |spec| {
        spec.queueing = QueueingConfig::Dbbm(Dbbm { queues: 8 });
        (spec.interface.queueing, spec.interface.depth) = (Queueing::PerLane, u16::MAX);
    },
    ..BUTTERFLY_1_QUEUE
};
/// The same as `BUTTERFLY_8_QUEUES`, but with a single queue at each interface, and the interface sends whole packets. The comparison of
/// the two networks shows the cost of several queues at interfaces.
const BUTTERFLY_8_LANES: Network = Network {
    name: "butterfly-512-8-lanes",
    adjust: |spec| {
        spec.queueing = QueueingConfig::Dbbm(Dbbm { queues: 8 });
        (spec.interface.queueing, spec.interface.depth) = (Queueing::One, u16::MAX);
    },
    ..BUTTERFLY_1_QUEUE
};
const BUTTERFLY_10K: Network = Network {
    name: "butterfly-10648",
    topology: r#"{"hyperx": {"widths": [22, 22], "terminals_per_router": 22}}"#,
    booksim: Some("topology=flatfly;k=22;n=2;c=22;x=22;y=22;xr=22;yr=1"),
    ..BUTTERFLY_512
};
const TORUS: Network = Network {
    name: "torus-512",
    topology: r#"{"torus": {"widths": [8, 8, 8], "terminals_per_router": 1}}"#,
    vcs: 4,
    buffer: 16,
    latencies: &[2],
    rates: FULL,
    adjust: AS_IT_IS,
    booksim: Some("topology=torus;k=8;n=3;use_noc_latency=1"),
};
/// `TORUS` with two parallel links in place of each link; heads take the link with more credits.
const TORUS_TRUNKS: Network = Network {
    name: "torus-512-trunks",
    topology: r#"{"torus": {"widths": [8, 8, 8], "terminals_per_router": 1, "trunk_width": 2}}"#,
    booksim: None,
    ..TORUS
};
/// A torus of 16 routers, with four parallel links to each neighbour.
const TORUS_TRUNKS_OF_4: Network = Network {
    name: "torus-64-trunks",
    topology: r#"{"torus": {"widths": [4, 4], "terminals_per_router": 4, "trunk_width": 4}}"#,
    booksim: None,
    ..TORUS
};
const TREE: Network = Network {
    name: "tree-1024",
    topology: r#"{"k_ary_n_tree": {"k": 4, "n": 5}}"#,
    vcs: 4,
    buffer: 16,
    latencies: &[1],
    rates: FULL,
    adjust: AS_IT_IS,
    booksim: Some("topology=fattree;k=4;n=5"),
};
const DRAGONFLY_1K: Network = Network {
    name: "dragonfly-1056",
    topology: r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4,
        "arrangement": "absolute"}}"#,
    vcs: 3,
    buffer: 256,
    latencies: &[10, 100],
    rates: FULL,
    adjust: AS_IT_IS,
    booksim: Some("topology=dragonflynew;k=4;n=1"),
};
/// `DRAGONFLY_1K` with global links of half the bandwidth.
const DRAGONFLY_MIXED: Network =
    Network { name: "dragonfly-1056-mixed", rates: &[(1, 1), (1, 2)], booksim: None, ..DRAGONFLY_1K };
const DRAGONFLY_16K: Network = Network {
    name: "dragonfly-16512",
    topology: r#"{"dragonfly": {"routers_per_group": 16, "terminals_per_router": 8, "global_links_per_router": 8,
        "arrangement": "absolute"}}"#,
    booksim: Some("topology=dragonflynew;k=8;n=1"),
    ..DRAGONFLY_1K
};
const DRAGONFLY_92K: Network = Network {
    name: "dragonfly-92672",
    topology: r#"{"dragonfly": {"groups": 181, "routers_per_group": 32, "terminals_per_router": 16,
        "global_links_per_router": 16}}"#,
    booksim: None,
    ..DRAGONFLY_1K
};
/// The dragonfly of the FOGSim papers, with its escape ring as separate links. A packet of 8 phits is one flit here, and links take 8
/// cycles for a flit. The local and global links of the ring have the same buffers as the other local and global links.
const DRAGONFLY_5K: Network = Network {
    name: "dragonfly-5256",
    topology: r#"{"dragonfly": {"routers_per_group": 12, "terminals_per_router": 6, "global_links_per_router": 6,
        "escape_rings": 1}}"#,
    vcs: 3,
    buffer: 4,
    latencies: &[10, 100, 10, 100],
    rates: &[(1, 8)],
    adjust: |spec| as_fogsim(spec, &[(0, 3, 100), (2, 2, 32), (4, 2, 32)]),
    booksim: None,
};
/// As `DRAGONFLY_5K`, but with h = 16 instead of 6 (global links per router), and its escape ring uses separate VCs on existing links.
const DRAGONFLY_262K: Network = Network {
    name: "dragonfly-262656",
    topology: r#"{"dragonfly": {"routers_per_group": 32, "terminals_per_router": 16, "global_links_per_router": 16}}"#,
    vcs: 4,
    adjust: |spec| as_fogsim(spec, &[(0, 3, 100), (2, 3, 32)]),
    ..DRAGONFLY_5K
};

/// The FleX network of the FleX paper. Its cases show the cost of routings that choose among whole paths by posted queue lengths, compared
/// with minimal routing.
const FLEX_1080: Network = Network {
    name: "flex-1080",
    topology: r#"{"flex": {"widths": [6, 6], "layers": 3, "terminals_per_router": 10}}"#,
    vcs: 8,
    buffer: 256,
    latencies: &[1],
    rates: FULL,
    adjust: AS_IT_IS,
    booksim: None,
};
const DRAGONFLY_1M: Network = Network {
    name: "dragonfly-1048576",
    topology: r#"{"dragonfly": {"groups": 1024, "routers_per_group": 64, "terminals_per_router": 16,
        "global_links_per_router": 16}}"#,
    booksim: None,
    ..DRAGONFLY_1K
};

/// Sets the parameters of FOGSim's router. `links`: the link classes whose VCs or buffers differ from those of the other classes, as
/// (class, VCs, buffer in flits).
fn as_fogsim(spec: &mut Spec, links: &[(usize, u8, u32)]) {
    for &(class, vcs, buffer) in links {
        (spec.links[class].vcs, spec.links[class].buffer) = (vcs, buffer);
    }
    spec.links[0].rate = spec.links[1].rate;
    let router = &mut spec.router;
    (router.delay, router.speedup, router.output_buffer) = (0, 3, Some(0));
    (router.credit_delay, router.ejection_delay, router.input_speedup) = (0, 0, InputSpeedup::Vcs);
    router.priority = Priority::Transit;
}

const ALWAYS_ON: &str = r#"{"always_on": {}}"#;
/// A policy under which no link goes off, because the idle limit is longer than the run of any case.
const IDLE_FOR_EVER: &str = r#"{"idle_timeout": {"idle": "1s", "transition": "1us"}}"#;
const IDLE: &str = r#"{"idle_timeout": {"idle": "200ns", "transition": "50ns"}}"#;
/// A policy that reads every link repeatedly (`reading.rs`).
const READING: &str = r#"{"reading": {}}"#;
/// A policy that switches links of trunks off and on.
const TRUNK: &str = r#"{"trunk": {}}"#;
/// A policy of link rates with thresholds so low that links with traffic keep their full rate.
const FULL_RATE: &str = r#"{"rate_ladder": {"epoch": "5us", "transition": "50ns", "up": 0.000001, "down": 0.0000001}}"#;

const fn routing(name: &'static str, config: &'static str, booksim: &'static str) -> Routing {
    Routing { name, config, policy: ALWAYS_ON, booksim: Some(booksim) }
}

const fn pal(name: &'static str, policy: &'static str) -> Routing {
    Routing { name, config: r#"{"pal": {"sensor": "used_credits"}}"#, policy, booksim: None }
}

const MINIMAL: Routing = routing("minimal", r#"{"dimension_order": {}}"#, "ran_min");
const UGAL_P: Routing = routing("ugal_p", r#"{"ugal_p": {"sensor": "used_credits"}}"#, "ugal");
const PAL: Routing = pal("pal", ALWAYS_ON);
/// TCEP with all links on: the policy monitors the links but never switches one.
const TCEP_ALL_ON: Routing = pal("tcep_all_on", r#"{"tcep": {"initial": "all_on", "deactivate": false}}"#);
const TCEP: Routing = pal("tcep", r#"{"tcep": {}}"#);
const TORUS_ORDER: Routing = routing("dimension_order", r#"{"dimension_order": {}}"#, "dim_order");
const TORUS_ADAPTIVE: Routing = routing("minimal_adaptive", r#"{"minimal_adaptive": {}}"#, "min_adapt");
const TREE_RANDOM: Routing = routing("up_down", r#"{"up_down": {}}"#, "nca");
const DRAGONFLY_MINIMAL: Routing = routing("minimal", r#"{"dragonfly_minimal": {}}"#, "min");
const DRAGONFLY_VALIANT: Routing =
    Routing { name: "valiant", config: r#"{"dragonfly_valiant": {}}"#, policy: ALWAYS_ON, booksim: None };
const OFAR: Routing = Routing { name: "ofar", config: r#"{"dragonfly_ofar": {}}"#, policy: ALWAYS_ON, booksim: None };
const FLEX_MINIMAL: Routing =
    Routing { name: "minimal", config: r#"{"flex_minimal": {}}"#, policy: ALWAYS_ON, booksim: None };
const FLEX_UGAL: Routing = Routing {
    name: "ugal",
    config: r#"{"ugal_over": {"minimal": {"flex_minimal": {}}, "sensor": "used_credits"}}"#,
    policy: ALWAYS_ON,
    booksim: None,
};
const FLEX_LBR: Routing = Routing {
    name: "lbr",
    config: r#"{"lbr": {"minimal": {"flex_minimal": {}}, "sensor": "used_credits", "prefer_min_on_tie": false}}"#,
    policy: ALWAYS_ON,
    booksim: None,
};

impl Routing {
    /// The same routing with another power policy. BookSim has no counterpart of it.
    const fn beside(self, policy: &'static str) -> Self {
        Self { policy, booksim: None, ..self }
    }
}

/// A case of a network and a routing. `policy`: the policy's name and a slash, which precede the routing's name in the name of the case;
/// empty if the case needs no such prefix. The last two arguments are (packet length [flits], load), and the numbers of cycles before and
/// in the timed part.
fn case(
    network: &'static Network,
    policy: &str,
    routing: Routing,
    (packet_flits, load): (u32, f64),
    (warmup, cycles): (u64, u64),
) -> Case {
    let name = format!("{}/{policy}{}/{packet_flits}f/{load:.2}", network.name, routing.name);
    Case { name, network, routing, load, packet_flits, warmup, cycles }
}

/// All benchmark cases. The cases with the largest networks come last.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |network, routing, packet, times| cases.push(case(network, "", routing, packet, times));
    each_length_of_packets(&mut add);
    each_policy(&mut cases);
    let mut add = |network, routing, packet, times| cases.push(case(network, "", routing, packet, times));
    each_routing(&mut add);
    each_size(&mut add);
    cases
}

/// A function that adds a case with a network, a routing, packets (flits, load) and cycles (before the timed part,
/// timed).
type Add<'a> = &'a mut dyn FnMut(&'static Network, Routing, (u32, f64), (u64, u64));

/// Cases with packets of several lengths, with queues per VC and with the queues of a queueing scheme.
fn each_length_of_packets(add: Add) {
    for routing in [MINIMAL, UGAL_P] {
        for packet in [1, 8, 64] {
            for (load, cycles) in [(0.05, 200_000), (0.30, 40_000), (0.60, 20_000)] {
                add(&BUTTERFLY_512, routing, (packet, load), (2_000, cycles));
            }
        }
    }
    for network in [&BUTTERFLY_1_QUEUE, &BUTTERFLY_8_LANES, &BUTTERFLY_8_QUEUES] {
        for packet in [1, 16] {
            for (load, cycles) in [(0.30, 20_000), (0.60, 10_000)] {
                add(network, MINIMAL, (packet, load), (2_000, cycles));
            }
        }
    }
    for packet in [1, 8] {
        add(&BUTTERFLY_MIXED, MINIMAL, (packet, 0.3), (2_000, 40_000));
    }
}

/// Cases with each policy on the torus with trunks and, except for `trunk`, on the butterfly. For comparison, the torus also runs without a
/// policy.
fn each_policy(cases: &mut Vec<Case>) {
    let policies = [
        ("", ALWAYS_ON),
        ("sleepless/", IDLE_FOR_EVER),
        ("sleepless-reading/", READING),
        ("full-rate/", FULL_RATE),
        ("idle-timeout/", IDLE),
        ("trunk/", TRUNK),
    ];
    for (name, policy) in policies {
        let mut add = |network, routing: Routing, packet, times| {
            cases.push(case(network, name, routing.beside(policy), packet, times));
        };
        for (load, cycles) in [(0.05, 100_000), (0.30, 40_000)] {
            if !name.is_empty() && policy != TRUNK {
                for packet in [8, 64] {
                    add(&BUTTERFLY_512, MINIMAL, (packet, load), (2_000, cycles));
                }
            }
            add(&TORUS_TRUNKS_OF_4, TORUS_ORDER, (8, load), (1_000, 4 * cycles));
            if name.is_empty() || policy == TRUNK {
                add(&TORUS_TRUNKS_OF_4, TORUS_ADAPTIVE, (8, load), (1_000, 4 * cycles));
            }
        }
    }
}

/// Cases with several routings for each family of networks.
fn each_routing(add: Add) {
    for routing in [PAL, TCEP_ALL_ON, TCEP] {
        add(&BUTTERFLY_512, routing, (1, 0.3), (2_000, 40_000));
    }
    for load in [0.2, 0.6] {
        add(&TORUS, TORUS_ORDER, (1, load), (1_000, 20_000));
        add(&TORUS, TORUS_ADAPTIVE, (1, load), (1_000, 20_000));
    }
    for routing in [TORUS_ORDER, TORUS_ADAPTIVE] {
        add(&TORUS_TRUNKS, routing, (1, 0.2), (1_000, 20_000));
    }
    add(&TREE, TREE_RANDOM, (1, 0.3), (1_000, 12_000));
    add(&DRAGONFLY_1K, DRAGONFLY_MINIMAL, (1, 0.3), (1_000, 12_000));
    add(&DRAGONFLY_MIXED, DRAGONFLY_MINIMAL, (1, 0.3), (1_000, 12_000));
    for routing in [FLEX_MINIMAL, FLEX_UGAL, FLEX_LBR] {
        add(&FLEX_1080, routing, (1, 0.5), (1_000, 6_000));
    }
    // a load of 0.3 phits per cycle; a flit has 8 phits
    for routing in [DRAGONFLY_MINIMAL, DRAGONFLY_VALIANT, OFAR] {
        add(&DRAGONFLY_5K, routing, (1, 0.3 / 8.0), (600, 1_000));
    }
}

/// Cases with networks of 10,000 to a million terminals.
fn each_size(add: Add) {
    add(&BUTTERFLY_10K, MINIMAL, (1, 0.05), (200, 8_000));
    add(&BUTTERFLY_10K, MINIMAL, (1, 0.3), (200, 1_500));
    add(&BUTTERFLY_10K, TCEP, (1, 0.05), (200, 8_000));
    add(&DRAGONFLY_16K, DRAGONFLY_MINIMAL, (1, 0.3), (400, 800));
    add(&DRAGONFLY_92K, DRAGONFLY_MINIMAL, (1, 0.2), (300, 300));
    add(&DRAGONFLY_1M, DRAGONFLY_MINIMAL, (1, 0.1), (100, 900));
    add(&DRAGONFLY_262K, OFAR, (1, 0.3 / 8.0), (300, 300));
}

impl Case {
    /// The case as a spec, the input of the engine.
    pub fn spec(&self) -> Result<Spec, Refusal> {
        let parse = |e: serde_json::Error| Refusal::new(&self.name, e.to_string(), "correct the case");
        let topology = serde_json::from_str(self.network.topology).map_err(parse)?;
        let mut spec = Spec::new(&topology, serde_json::from_str(self.routing.config).map_err(parse)?)?;
        spec.set_packet(self.packet_flits);
        spec.set_load(self.load);
        spec.policy = serde_json::from_str(self.routing.policy).map_err(parse)?;
        for (class, link) in spec.links.iter_mut().enumerate() {
            (link.vcs, link.buffer) = (self.network.vcs, self.buffer());
            if let Some(k) = class.checked_sub(1) {
                let Network { latencies, rates, .. } = self.network;
                link.latency = latencies[k.min(latencies.len() - 1)];
                let (flits, cycles) = rates[k.min(rates.len() - 1)];
                link.rate = Rate::new(flits, cycles, &self.name)?;
                link.credit_latency = link.latency;
            }
        }
        (self.network.adjust)(&mut spec);
        spec.phases.warmup = self.warmup;
        spec.phases.window = self.cycles;
        Ok(spec)
    }

    /// Number of rows or groups of the network. A block can contain a whole row or group.
    pub fn units(&self) -> Result<usize, Refusal> {
        Ok(weft_engine::scaling::units(&self.spec()?.graph))
    }

    /// Buffer size [flits per VC]. Virtual cut-through needs room for one packet. A link stays busy if there is room for two packets.
    fn buffer(&self) -> u32 {
        if self.packet_flits > self.network.buffer { 2 * self.packet_flits } else { self.network.buffer }
    }

    /// The case in the form that BookSim needs; `None` if BookSim has no such network or routing.
    pub fn booksim(&self) -> Option<Peer> {
        Some(Peer {
            network: self.network.booksim?,
            routing: self.routing.booksim?,
            vcs: self.network.vcs,
            buffer: self.buffer(),
            load: self.load,
            packet_flits: self.packet_flits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_small_cases_are_valid() {
        let cases = all();
        let names: std::collections::BTreeSet<_> = cases.iter().map(|c| &c.name).collect();
        assert_eq!(names.len(), cases.len());
        for case in cases.iter().filter(|c| c.name.contains("-512")) {
            case.spec().expect("a valid case");
        }
    }

    #[test]
    fn links_follow_the_network() {
        let case = all().into_iter().find(|c| c.name.starts_with("dragonfly-1056")).expect("a case");
        let latencies: Vec<_> = case.spec().expect("a valid case").links.iter().map(|l| l.latency).collect();
        assert_eq!(latencies, [1, 10, 100]);
    }

    #[test]
    fn rates_follow_the_network() {
        let case = all().into_iter().find(|c| c.name.starts_with("butterfly-512-mixed")).expect("a case");
        let rates: Vec<_> = case.spec().expect("a valid case").links.iter().map(|l| l.rate.per_cycle()).collect();
        assert_eq!(rates, [1.0, 1.0, 2.0 / 3.0]);
    }

    #[test]
    fn long_packets_get_room() {
        let buffer = |name| all().iter().find(|c| c.name == name).map(Case::buffer);
        assert_eq!(buffer("butterfly-512/minimal/8f/0.30"), Some(32));
        assert_eq!(buffer("butterfly-512/minimal/64f/0.30"), Some(128));
    }
}
