//! Dragonfly PB (piggybacking): the source router chooses between the minimal path and a path over a random intermediate. It compares the
//! queues of the first hops of the two paths. In addition, each router posts one bit for each of its global links, which the other
//! routers of its group read. The bit is set if the link is saturated. The source router reads the bit of the global link on the minimal
//! path.
//!
//! # Source
//! Jiang, Kim, Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA 2009 (piggyback routing). The rules are
//! those of the simulator FOGSim of the University of Cantabria. A global link is saturated if its queue q > coefficient * (mean q of the
//! global links of its router) + margin. A packet takes the minimal path if the path's global link is not saturated and q_min H_min <= q_nm
//! H_nm + T ("nm": over the intermediate). H is the number of hops of a path.
//! # Parameters
//! `intermediate`: as for Valiant. `sensor`: definition of the queue q. `threshold`: T \[flits\]. `coefficient`, `margin` \[flits\]: factor
//! and summand of the rule for the bit (see Source). `every` \[time\]: time between two posts of the bits. `delay` \[time\]: time from a
//! post until all routers of the group know the bits.
//! # Guarantees
//! VC classes are those of Valiant, under which the dependencies between channels have no cycle. A packet on the minimal path uses l0 g0 l1
//! (l1: class 1 of a local link, g0: class 0 of a global link). Packets whose destination is in their source group take detours only with
//! the intermediate `other_group_for_all`. With `class_credits`, q is the number of credits in use on the VCs of the packet's next VC
//! class. FOGSim's PB corresponds to `class_credits` with T = 0. On long links, packets under FOGSim's PB leave minimal paths even if these
//! are idle. Therefore our defaults are `history_window` and T = 2 flits.
//! # Not modelled
//! The load of the packets that would transport the bits. With two global links per router and a coefficient of 2 or more, the bit is never
//! set: with a coefficient of 2 the rule is q1 > 2 (q1 + q2) / 2 + margin, which is never true. `weft check` shows a hint for these values,
//! and for margins with which no queue can set the bit.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours.
//! The rows `PB`, `PB125` and `UGAL-L` of `tests/data/golden/fogsim.csv` compare this routing with FOGSim. In the runs of the rows
//! `UGAL-L`, no bit is ever set.

use super::dragonfly_valiant;
use crate::routing::bounds::SharedBounds;
use crate::routing::on_dragonfly::{group, in_groups, index};
use crate::routing::{
    Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Sensor, Step, View, threshold,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::board::Posts;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal, Remark, Time};

weft_units::codes! {
    SATURATION_BIT_NEVER_SET = "saturation_bit_never_set", Hint,
        means: "No global link can ever be marked as saturated. Packets then choose only by the queues of their source router.",
        computed: "A bit is set if a queue is longer than coefficient x mean of the queues + margin. The best case is one full queue next \
                   to empty queues: room > coefficient x room / links + margin. The code appears if this condition is false.",
        helps: "Write a smaller `coefficient` or a smaller `margin`. The remedy in the message contains the limits.";
}

/// Dragonfly PB: the source router chooses between the minimal path and a path over a random intermediate. The source router compares
/// queues, and reads saturation bits of its group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyPb {
    /// The router at which the first leg of a detour ends.
    #[serde(default)]
    pub intermediate: dragonfly_valiant::Intermediate,
    /// Definition of the queue of an output.
    #[serde(default)]
    pub sensor: PbSensor,
    /// Bias T towards the minimal path, if the saturation bit is not set.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Factor of the rule for the saturation bit. The bit of a global link is set if its queue exceeds this factor times the mean queue of
    /// its router's global links, plus the margin.
    #[serde(default = "twice")]
    pub coefficient: f64,
    /// Margin of the rule for the saturation bit [flits] (see `coefficient`).
    #[serde(default = "five")]
    pub margin: Flits,
    /// Time from one post of the bits to the next [time]; at least 1 cycle.
    #[serde(default = "a_cycle")]
    pub every: Time,
    /// Time from a post until the other routers of the group know the bits [time]; at least 1 cycle.
    #[serde(default = "ten_cycles")]
    pub delay: Time,
}

/// Definition of the queue (congestion) of an output in PB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PbSensor {
    /// Credits in use on the VCs of the packet's next VC class, as in FOGSim's PB. Flits and credits in flight count as part of the queue.
    ClassCredits,
    /// Credits in use on all VCs, minus the flits that the link took during the last credit round trip.
    #[default]
    HistoryWindow,
}

/// FOGSim has no threshold. The default is the threshold of `dragonfly_ugal`.
fn two() -> Flits {
    Flits(2)
}

fn twice() -> f64 {
    2.0
}

fn five() -> Flits {
    Flits(5)
}

fn a_cycle() -> Time {
    Time::Cycles(1)
}

fn ten_cycles() -> Time {
    Time::Cycles(10)
}

#[derive(Debug, Clone)]
pub struct Runtime {
    valiant: dragonfly_valiant::Runtime,
    config: DragonflyPb,
    threshold: i32,
    /// Index of the first global port of a router, and number of ports from the first global port to the last.
    global: (u16, u16),
}

impl RoutingModel for DragonflyPb {
    type Routing = Runtime;
    const ROUTES: &'static str = dragonfly_valiant::DragonflyValiant::ROUTES;

    fn fits(graph: &Graph) -> bool {
        dragonfly_valiant::DragonflyValiant::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        if !self.coefficient.is_finite() || self.coefficient < 0.0 {
            let what = format!("{} is not a valid factor", self.coefficient);
            return Err(Refusal::new("routing.dragonfly_pb.coefficient", what, "write 0 or more, such as 2"));
        }
        let valiant = dragonfly_valiant::Runtime::of(graph, self.intermediate);
        let threshold = threshold(self.threshold, "dragonfly_pb")?;
        let global = valiant.groups.global_ports();
        if u32::from(global.1) > u32::BITS {
            let what = format!(
                "{} global links per router, but a router posts one bit for each of them in a word of {} bits",
                global.1,
                u32::BITS
            );
            let help = "choose a topology with fewer global links per router, or write routing: dragonfly_ugal";
            return Err(Refusal::new("routing.dragonfly_pb", what, help));
        }
        Ok(Runtime { global, valiant, config: self.clone(), threshold })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_with_detours_to_the_next_group(),
            Example::of(r#"{"intermediate": "router", "coefficient": 1.25, "margin": "2flits", "delay": "3cycles"}"#),
            Example::of(r#"{"intermediate": "other_group_for_all", "coefficient": 1.25, "sensor": "class_credits"}"#),
        ]
    }
}

impl Runtime {
    /// True if the packet must still choose its path at router `at`.
    #[inline(always)]
    fn asks(&self, at: u64, packet: &Packet) -> bool {
        let undecided = packet.phase == 0 && packet.flags & DETOUR == 0;
        undecided && self.valiant.has_choice(at, packet.dest)
    }

    fn cost(&self, at: u64, hop: Hop, packet: &Packet, mid: Option<u64>, seed: u64) -> Cost {
        let bias = if mid.is_some() { self.threshold } else { 0 };
        Cost { at, port: hop.port, hops: self.valiant.hops(at, packet, mid, seed), bias }
    }

    /// The cost of a path for the lists that `steps` and `first_steps` return. It equals `cost`, but the bias of a detour is at least 1.
    /// Then the minimal path wins if both paths cost the same.
    fn listed(&self, at: u64, hop: Hop, packet: &Packet, mid: Option<u64>, seed: u64) -> Cost {
        let cost = self.cost(at, hop, packet, mid, seed);
        Cost { bias: if mid.is_some() { cost.bias.max(1) } else { 0 }, ..cost }
    }

    /// The congestion of the output that `hop` takes.
    #[inline(always)]
    fn queue<Q: View + ?Sized>(&self, here: &Q, hop: Hop) -> i32 {
        match self.config.sensor {
            PbSensor::ClassCredits => here.used(hop) as i32,
            PbSensor::HistoryWindow => here.read(hop.port),
        }
    }

    /// A mask of saturation bits, one for each global link of this router. The first link has the lowest bit.
    fn bits<Q: View + ?Sized>(&self, here: &Q) -> u32 {
        let (first, count) = self.global;
        let queue = |port: u16| f64::from(self.queue(here, Hop { port, class: 0 }));
        let mean = (first..first + count).map(queue).sum::<f64>() / f64::from(count);
        let limit = self.config.coefficient * mean + f64::from(self.config.margin.0);
        (first..first + count).fold(0, |bits, port| bits | u32::from(queue(port) > limit) << (port - first))
    }

    /// A hint for the user if no queues can ever set a bit. `room`: number of flits that a buffer can hold. The most favourable case for a
    /// bit is a full queue while the queues of the router's other global links are empty.
    fn never_set(&self, room: u32) -> Option<Remark> {
        let (links, full) = (f64::from(self.global.1), f64::from(room));
        let (coefficient, Flits(margin)) = (self.config.coefficient, self.config.margin);
        let limit = coefficient * (full / links) + f64::from(margin);
        if full > limit {
            return None;
        }
        let what = format!(
            "no saturation bit of a global link can ever be set, so packets choose only by the queues of their source router: a bit needs \
             a queue above {coefficient} x the mean queue of the {links} global links of a router + {margin} flits, but a full queue of \
             {room} flits next to empty queues is not above {coefficient} x {room} / {links} + {margin} = {limit}"
        );
        let cents = |value: f64| (value * 100.0).floor() / 100.0;
        let of_margin = |margin: u32| cents(0.75 * links * (1.0 - f64::from(margin) / full));
        let (key, help) = if coefficient < links {
            let most = (full * (1.0 - coefficient / links)).ceil() as u32 - 1;
            ("margin", format!("write `margin: {most}flits` or less"))
        } else if margin < room {
            ("coefficient", format!("write `coefficient: {}` or less", of_margin(margin)))
        } else {
            let margin = room / 4;
            let coefficient = of_margin(margin);
            ("coefficient", format!("write `coefficient: {coefficient}` and `margin: {margin}flits`, or less"))
        };
        let numbers = [
            ("coefficient", coefficient),
            ("margin_flits", f64::from(margin)),
            ("links", links),
            ("room_flits", full),
            ("limit_flits", limit),
        ];
        Some(Remark::new(&SATURATION_BIT_NEVER_SET, format!("routing.dragonfly_pb.{key}"), numbers, what, help))
    }

    /// True if the global link of the minimal path is saturated, according to the bits that this router knows.
    fn is_saturated<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, seed: u64) -> bool {
        let groups = &self.valiant.groups;
        if group(at) == group(packet.dest) {
            return false;
        }
        let (router, port) = groups.gateway_to(group(at), group(packet.dest), packet, seed);
        let bits = if u32::from(router) == index(at) {
            self.bits(here)
        } else {
            here.post(0).of(group(at) * groups.per_group + u32::from(router), 0)
        };
        bits >> (port - self.global.0) & 1 != 0
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let posts = Posts { key: "", numbers: 1, every: self.config.every, delay: self.config.delay };
        let sensor = match self.config.sensor {
            PbSensor::ClassCredits => None,
            PbSensor::HistoryWindow => Some(Sensor::HistoryWindow),
        };
        Needs {
            classes: self.valiant.classes(),
            decides: Decides::AtHead,
            sensor,
            posts: Some(posts),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if self.asks(at, packet) {
            return None;
        }
        if packet.phase == 0 && packet.flags & DETOUR == 0 {
            self.valiant.minimal(packet);
        }
        self.valiant.next(at, packet, seed)
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let mid = self.valiant.draw_intermediate(group(at), packet, seed, 0);
        let is_saturated = self.is_saturated(at, here, packet, seed);
        let value = |hop: Hop, packet: &Packet, mid: Option<u64>| {
            let cost = self.cost(at, hop, packet, mid, seed);
            let value = here.weigh(hop, cost, self.queue(here, hop));
            if is_saturated && mid.is_some() { i32::MIN } else { value }
        };
        self.valiant.take_better(packet, mid, |packet| self.valiant.next(at, packet, seed), value)
    }

    fn post<Q: View + ?Sized>(&self, _at: u64, here: &Q, _sent: impl Fn() -> u32, numbers: &mut [u32]) {
        numbers[0] = self.bits(here);
    }

    /// The possible first hops: those of the minimal path, and those of one path over each intermediate.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.listed(at, hop, packet, mid, seed);
        self.valiant.both_ways(at, packet, |packet| self.valiant.next(at, packet, seed), cost)
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let cost = |hop: Hop, packet: &Packet, mid: Option<u64>| self.listed(at, hop, packet, mid, seed);
        self.valiant.minimal_way(packet, |packet| self.valiant.next(at, packet, seed), cost).into_iter().collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.config.sensor == PbSensor::ClassCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        self.valiant.proof()
    }

    fn rank(&self, at: u64, hop: Hop) -> u32 {
        self.valiant.rank(at, hop)
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let flags = if phase == 0 { DETOUR } else { 0 };
        Packet { flags, ..self.valiant.leg(phase, target, draw) }
    }

    fn draws(&self) -> Draws {
        self.valiant.draws()
    }

    fn hints(&self, room: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        let global = self.valiant.groups.global_class();
        let classes = match self.config.sensor {
            PbSensor::ClassCredits => 1,
            PbSensor::HistoryWindow => self.valiant.classes()[global],
        };
        self.never_set((0..classes).map(|class| room(global, class)).sum()).into_iter().collect()
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.valiant.draws_between(from, to)
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        self.valiant.intermediate(packet)
    }
}
