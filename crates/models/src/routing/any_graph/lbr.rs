//! LBR: each packet draws one of a few paths at random. The routing computes the probabilities (shares) so that the paths with the shortest
//! queues fill first.
//!
//! # Source
//! M. Jeon et al., "FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme", IEEE Access 10 (2022), section on LBR,
//! eqs. (9) to (16). In eq. (9) the paper prints q_s T, where q is the length of a queue. This is a misprint: as in eq. (10), we use lambda
//! T, the number of injected flits.
//! # Parameters
//! `minimal`: the routing that determines the minimal path and both legs of the other paths, as for `valiant_over`. `detours`: number of
//! paths over an intermediate router, for each pair of routers, in addition to the minimal path. `every`: T, time from one snapshot of all
//! queues to the next. `delay`: time from a snapshot until routers know it (0 in the paper, at least 1 cycle here). `prefer_min_on_tie`:
//! whether packets take the minimal path if all queues are equal, as in an empty network. According to the equations, all paths would then
//! have equal shares. `sensor`: definition of the queue of an output. `candidates`: the paths among which a packet chooses. With `fixed`,
//! all packets between two routers have the same candidates in the whole run (`draw`: seed of the random draw). With `per_snapshot`, each
//! source router draws new intermediates after every snapshot, as in the paper. With `per_packet`, each packet draws its own candidates.
//! # Guarantees
//! When a packet is the head of its VC at its source router, it draws one of its candidate paths. A path is drawn with the probability (A -
//! q) / lambda T. Here q is the sum of the queues of all outputs on the path, according to the last snapshot. The number of flits that the
//! terminals of the source router sent between the last two snapshots is lambda T, at least 1. The level A is the one up to which these
//! flits fill the queues of the paths in use. Paths with q >= A are removed, and A is computed again, until all remaining paths have q < A.
//! The paper removes paths only once, which can give negative shares. Dependencies between channels have no cycle: with `fixed`, the VC
//! class is the hop index. With `per_snapshot` and `per_packet`, the VC classes are those of `valiant_over`, and packets on the minimal
//! path use the classes of the second leg. Intermediates are routers with terminals. The table of `fixed` has 4 bytes for each hop of every
//! path, at most 1 GiB. `per_snapshot` and `per_packet` need no table, because the routing computes the candidate paths again for each
//! packet. Faults: if the first link of its path is broken, a head at its source router takes another candidate. A packet that meets a
//! broken link later is discarded.
//! # Not modelled
//! The load of the packets that would transport snapshots between routers. A draw of whole paths per snapshot: if the routing of the legs
//! also draws paths, each packet draws the legs again.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `lbr/shares.rs` checks that shares add up to 1 on random queues, and that none is negative. `lbr/drawn.rs`
//! checks at which times packets get new intermediates. `engine/tests/paths.rs` checks the paths, and compares the mean number of hops with
//! a sum over all pairs of routers and all intermediates. `engine/tests/bounds.rs` checks that the accepted load is at least half of the
//! theoretical bound with detours. No test compares this routing with another simulator.

use super::valiant_over::shortest_paths;
use crate::routing::bounds::SharedBounds;
use crate::routing::bounds::{DRAGONFLY, FLEX, SHORT_PATHS};
use crate::routing::on_graph;
use crate::routing::two_legs::{TwoLegs, build_leg};
use crate::routing::{
    Classes, Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingConfig, RoutingModel, Sensor, Step,
    View, draw, same_classes,
};
use drawn::{Anew, Drawn};
use fixed::{Fixed, Search};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shares::{MOST, Shares};
use weft_api::board::{Post, Posts};
use weft_api::coordinates;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Refusal, Time};

mod drawn;
mod fixed;
mod shares;

/// LBR: each packet draws one of a few paths at random. The routing computes the probabilities so that the paths with the shortest queues
/// fill first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lbr {
    /// The routing that determines the minimal path and both legs of the other paths. Its hops must depend only on the present router and
    /// the destination router.
    #[serde(default = "shortest_paths")]
    pub minimal: Box<RoutingConfig>,
    /// Number of paths over a random intermediate, in addition to the minimal path, 0 to 15.
    #[serde(default = "three")]
    pub detours: u32,
    /// Time from one snapshot of all queues to the next [time], 1 cycle or more.
    #[serde(default = "ten_cycles")]
    pub every: Time,
    /// Time from a snapshot until all routers know it [time], 1 cycle or more.
    #[serde(default = "one_cycle")]
    pub delay: Time,
    /// Whether packets take the minimal path if all queues are equal.
    #[serde(default = "yes")]
    pub prefer_min_on_tie: bool,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
    /// The paths among which a packet chooses.
    #[serde(default)]
    pub candidates: Candidates,
}

/// The paths among which a packet chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Candidates {
    /// All packets from one router to another have the same candidate paths, in the whole run.
    Fixed {
        /// Seed of the random draw of intermediates and paths.
        #[serde(default)]
        draw: u64,
    },
    /// All packets from one router to another have the same candidate paths until the next snapshot.
    PerSnapshot {},
    /// Each packet draws its candidate paths.
    PerPacket {},
}

impl Default for Candidates {
    fn default() -> Self {
        Self::PerSnapshot {}
    }
}

/// The default sensor does not count flits in flight as a queue. With `used_credits`, packets would leave minimal paths even if no flit
/// waits on these paths.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

/// The default is true, because in an idle network all queues are equal, and a detour would only be longer.
fn yes() -> bool {
    true
}

fn three() -> u32 {
    3
}

fn ten_cycles() -> Time {
    Time::Cycles(10)
}

fn one_cycle() -> Time {
    Time::Cycles(1)
}

/// The candidate paths, stored in a table or drawn during the run.
#[derive(Debug, Clone)]
enum Paths {
    Fixed(Fixed),
    Drawn(Drawn),
}

#[derive(Debug, Clone)]
pub struct Runtime {
    paths: Paths,
    classes: Classes,
    posts: Posts,
    prefer_min_on_tie: bool,
    sensor: Sensor,
}

impl RoutingModel for Lbr {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    fn table_bytes(&self, graph: &Graph) -> u64 {
        let hosts = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).count() as u64;
        let paths = match self.candidates {
            // an estimate, in which a path has 4 links
            Candidates::Fixed { .. } => fixed::table_bytes(hosts, u64::from(self.detours) + 1, 4),
            Candidates::PerSnapshot {} | Candidates::PerPacket {} => 0,
        };
        self.minimal.table_bytes(graph) + paths
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        if self.detours as usize >= MOST {
            let what = format!("{} paths over an intermediate are too many", self.detours);
            return Err(Refusal::new("routing.lbr.detours", what, format!("write at most {}", MOST - 1)));
        }
        let drawn = |anew| {
            let legs = TwoLegs::of(graph, &self.minimal, "lbr", "minimal")?;
            let classes = legs.classes.clone();
            Ok((Paths::Drawn(Drawn::new(graph, legs, self.detours as usize, anew)), classes))
        };
        let (paths, classes) = match self.candidates {
            Candidates::PerSnapshot {} => drawn(Anew::BySnapshot)?,
            Candidates::PerPacket {} => drawn(Anew::ByPacket)?,
            Candidates::Fixed { draw } => {
                let leg = build_leg(graph, &self.minimal, "lbr", "minimal")?;
                let fixed = Search::new(graph, &*leg, self.detours, draw).paths()?;
                let classes = same_classes(graph, fixed.longest as u8);
                (Paths::Fixed(fixed), classes)
            }
        };
        // each router posts the queue of each of its ports, and the number of flits that its terminals have sent
        let numbers = graph.radix() as usize + 1;
        let posts = Posts { key: "", numbers, every: self.every, delay: self.delay };
        Ok(Runtime { paths, classes, posts, prefer_min_on_tie: self.prefer_min_on_tie, sensor: self.sensor })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").only_on(&SHORT_PATHS),
            Example::of(r#"{"candidates": {"fixed": {}}}"#)
                .only_on(&SHORT_PATHS)
                .bound_with_detours_around_one_neighbor(),
            Example::of(
                r#"{"minimal": {"flex_minimal": {}}, "every": "5cycles", "candidates": {"fixed": {"draw": 1}}}"#,
            )
            .only_on(&[FLEX]),
            Example::of(r#"{"minimal": {"dragonfly_minimal": {}}, "detours": 6, "delay": "20cycles"}"#)
                .only_on(&[DRAGONFLY]),
            Example::of(r#"{"minimal": {"flex_minimal": {}}, "candidates": {"per_packet": {}}}"#).only_on(&[FLEX]),
            Example::of(r#"{"prefer_min_on_tie": true}"#)
                .only_on(&SHORT_PATHS)
                .bound_with_detours_around_one_neighbor(),
        ]
    }
}

impl Runtime {
    /// True if a packet that is not at its destination router has not drawn its path yet.
    #[inline(always)]
    fn is_undecided(&self, packet: &Packet) -> bool {
        match &self.paths {
            Paths::Fixed(_) => Fixed::is_undecided(packet),
            Paths::Drawn(_) => Drawn::is_undecided(packet),
        }
    }

    /// Number of flits that the terminals of router `at` sent between the last two snapshots.
    fn injected<Q: View + ?Sized>(&self, at: u64, here: &Q) -> u32 {
        let sent = |post: Post<'_>| post.of(at as u32, self.posts.numbers - 1);
        sent(here.post(0)).wrapping_sub(sent(here.post(1)))
    }

    /// Draws the path of the packet, and returns the index of the path. `queues`: for each candidate path, the sum of the queues along the
    /// path.
    fn pick(&self, queues: &[u32], injected: u32, packet: &Packet, seed: u64) -> usize {
        let is_tie = self.prefer_min_on_tie && queues.iter().all(|&queue| queue == queues[0]);
        if is_tie { 0 } else { Shares::of(injected, queues).pick(draw(seed, packet, 0x1b)) }
    }
}

/// Reports, if the user watches the packet, a number that the routing compares: the queue of a path that begins with `hop`.
fn show<Q: View + ?Sized>(here: &Q, at: u64, hop: Hop, queue: u32) {
    here.weigh(hop, Cost { at, port: hop.port, hops: 1, bias: 0 }, queue as i32);
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.classes.clone(),
            decides: Decides::AtHead,
            sensor: Some(self.sensor),
            posts: Some(self.posts),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::numbers(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if self.is_undecided(packet) {
            return (at == packet.dest).then(|| Hop::to_terminal(packet));
        }
        match &self.paths {
            Paths::Fixed(fixed) => Some(fixed.hop(at, packet)),
            Paths::Drawn(drawn) => drawn.legs.hop(at, packet, seed),
        }
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let (post, injected, mut queues) = (here.post(0), self.injected(at, here), [0; MOST]);
        match &self.paths {
            Paths::Fixed(fixed) => {
                let (first, queues) = (fixed.first(at, packet.dest), &mut queues[..fixed.of_pair]);
                for (path, queue) in (first..).zip(queues.iter_mut()) {
                    *queue = fixed.hops(path).iter().map(|&place| post.at(place as usize)).sum();
                    let port = fixed.port(path, 0, at).unwrap_or(packet.dst_port);
                    show(here, at, Hop { port, class: 0 }, *queue);
                }
                Fixed::send(packet, first, self.pick(queues, injected, packet, seed));
                fixed.hop(at, packet)
            }
            Paths::Drawn(drawn) => {
                let (mids, queues) = (drawn.mids(at, packet, seed, post), &mut queues[..drawn.of_packet()]);
                drawn.queues(at, packet, seed, post, &mids, queues);
                for (path, &mut queue) in queues.iter_mut().enumerate().filter(|_| here.is_watched()) {
                    let mut sent = drawn.sent(packet, path, &mids);
                    let hop = drawn.legs.hop(at, &mut sent, seed).unwrap_or(Hop::to_terminal(packet));
                    show(here, at, hop, queue);
                }
                *packet = drawn.sent(packet, self.pick(queues, injected, packet, seed), &mids);
                drawn.legs.hop(at, packet, seed).unwrap_or(Hop::to_terminal(packet))
            }
        }
    }

    fn post<Q: View + ?Sized>(&self, at: u64, here: &Q, sent: impl Fn() -> u32, numbers: &mut [u32]) {
        let mut queue = |port: u16| numbers[usize::from(port)] = here.read(port) as u32;
        match &self.paths {
            Paths::Fixed(fixed) => fixed.ports_to_routers(at).for_each(&mut queue),
            Paths::Drawn(drawn) => drawn.ports_to_routers(at).for_each(&mut queue),
        }
        numbers[self.posts.numbers - 1] = sent();
    }

    /// All hops with which a path of the packet can begin, those of minimal paths first. While all queues are empty, all these hops have
    /// equal cost, except with `prefer_min_on_tie`.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut ways = match &self.paths {
            _ if at == packet.dest && self.is_undecided(packet) => return vec![Step::deliver(packet)],
            Paths::Fixed(_) if !self.is_undecided(packet) => return Step::named(self, at, packet, seed),
            Paths::Drawn(drawn) if !self.is_undecided(packet) => return drawn.legs.steps(at, packet, seed),
            Paths::Fixed(fixed) => fixed.ways(at, packet),
            Paths::Drawn(drawn) => drawn.ways(at, packet, seed),
        };
        for way in &mut ways {
            let bias = i32::from(self.prefer_min_on_tie && way.after.flags & DETOUR != 0);
            way.cost = Some(Cost { at, port: way.hop.port, hops: 1, bias });
        }
        ways
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut steps = self.steps(at, packet, seed);
        if self.prefer_min_on_tie && self.is_undecided(packet) {
            steps.retain(|step| step.after.flags & DETOUR == 0);
        }
        steps
    }

    fn weight(&self, at: u64, packet: &Packet, first: &Step, seed: u64) -> f64 {
        match &self.paths {
            Paths::Drawn(drawn) if self.is_undecided(packet) && at != packet.dest => {
                drawn.weight(at, packet, first, seed)
            }
            Paths::Fixed(_) | Paths::Drawn(_) => 1.0,
        }
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(0)
    }

    fn proof(&self) -> Proof<'_> {
        match &self.paths {
            Paths::Fixed(_) => Proof::rises(),
            Paths::Drawn(drawn) => drawn.legs.proof(),
        }
    }

    fn rank(&self, at: u64, hop: Hop) -> u32 {
        match &self.paths {
            Paths::Fixed(_) => hop.class.into(),
            Paths::Drawn(drawn) => drawn.legs.rank(at, hop),
        }
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let flags = if phase == 0 { DETOUR } else { 0 };
        Packet { target, dest: target, seq: draw, phase, flags, ..Packet::default() }
    }

    fn draws(&self) -> Draws {
        match &self.paths {
            Paths::Fixed(_) => Draws::default(),
            Paths::Drawn(drawn) => drawn.legs.leg().draws(),
        }
    }

    fn draws_hops(&self) -> bool {
        match &self.paths {
            Paths::Fixed(_) => false,
            Paths::Drawn(drawn) => drawn.legs.leg().draws_hops(),
        }
    }

    /// True, because with empty queues several paths have equal shares (all paths, or only the minimal ones), and a random draw decides.
    fn draws_ties(&self) -> bool {
        true
    }

    fn own_rule(&self) -> Option<&'static str> {
        Some(
            "a random draw, with probabilities that fill the paths with the shortest queues first (each path is listed by its first \
             output, with the sum of the posted queues of all its outputs)",
        )
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        match &self.paths {
            Paths::Fixed(_) => None,
            Paths::Drawn(_) => TwoLegs::over(packet),
        }
    }
}
