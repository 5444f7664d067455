//! What a routing algorithm is: the questions that the engine asks of it, with a default answer to each that has one.
//!
//! In the loop a routing is asked when a packet is made (`inject`), one hop ahead (`next`: it sees coordinates and the
//! packet only), as the head of its VC (`at_head`: the queues of its router are at hand) or in every allocation step
//! (`each_step`). [`Needs::decides`] says which of the last three. A packet carries what its routing wants to remember:
//! `target`, `phase`, `dim`, `lane` and two flags belong to the routing. Random choices are hashes of (seed, packet,
//! place), so results do not depend on the order of events.
//!
//! Before a run the same routing is walked: by the dependency check (`proof`), by `weft check` and by `weft explain`
//! (`steps`). These walks use the functions that the loop uses.

use super::compiled::{Ahead, Compiled, HeadRouting};
use super::policy::{LinkKnowledge, Policy};
use super::sensor::Sensor;
use super::subnetworks::Leg;
use super::view::View;
use super::walk::{Cost, Draws, Proof, Step};
use crate::base::hash::hash;
use crate::base::unchecked::Hot;
use crate::state::Packet;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::Refusal;

/// An output port and the VC class on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    pub port: u8,
    pub class: u8,
}

impl Hop {
    /// The packet is at its destination router: its terminal.
    #[inline(always)]
    pub fn to_terminal(packet: &Packet) -> Self {
        Self { port: packet.dst_port, class: 0 }
    }
}

/// VC classes that a routing needs on every link class (index as in the graph; terminal links need one).
pub type Classes = Vec<u8>;

/// When a routing decides where a packet goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decides {
    /// `next` always names the hop, before the packet comes to the router.
    #[default]
    Ahead,
    /// Where `next` names none, `at_head` does, once, when the packet becomes the head of its VC.
    AtHead,
    /// Where `next` names none, `each_step` does, in every allocation step until the head gets a VC.
    EachStep,
}

/// What a routing asks of the engine.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// VC classes per link class.
    pub classes: Classes,
    pub decides: Decides,
    /// What it reads as the congestion of an output, if it reads any.
    pub sensor: Option<Sensor>,
    /// `inject` draws the path of every packet: a detour over an intermediate, or one of several ways.
    pub draws_path: bool,
    /// Paths depend on the terminals of a packet, not only on their routers.
    pub sees_terminals: bool,
    /// It reads the queues of all routers of its group, which then are in one block.
    pub reads_group: bool,
    /// `taken` is to be called for every head that gets a VC.
    pub remembers: bool,
}

/// A routing algorithm on one network.
pub trait Routing: Debug + Send + Sync {
    /// What it asks of the engine; asked once per run.
    fn needs(&self) -> Needs;

    /// What the routing knows of every router, given to it as `at` and in `Packet::dest`. By default the coordinates that
    /// the topology gives its routers.
    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        super::coordinates::of_all(graph)
    }

    // ---- in the loop ------------------------------------------------------------------------------------------------

    /// First port of each dimension, if `next` always takes the direct link of the lowest dimension in which a packet is not
    /// at its destination yet, on VC class 0: the engine then finds the hop without a call ([`hop_in_order`]).
    fn first_ports(&self) -> Option<[u8; 8]> {
        None
    }

    /// The packet is made: an oblivious routing draws its intermediate or its path here ([`Needs::draws_path`]).
    fn inject(&self, _packet: &mut Packet, _seed: u64) {}

    /// The hop at the router with coordinates `at`; `None` if it depends on the queues there.
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop>;

    /// The hop of a packet that has become the head of its VC at `at` ([`Decides::AtHead`]).
    fn at_head<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _seed: u64) -> Hop
    where
        Self: Sized,
    {
        unreachable!("{self:?} names no hop ahead, and has no `at_head` that would")
    }

    /// The candidate that a head at `at` asks for in this step ([`Decides::EachStep`]). `turn` decides ties: another number
    /// for every head of a router, and in the next cycle.
    fn each_step<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &Packet, _turn: u32) -> Hop
    where
        Self: Sized,
    {
        unreachable!("{self:?} names no hop ahead, and has no `each_step` that would")
    }

    /// A head has got a VC for `hop`: the routing may remember it in the packet ([`Needs::remembers`]).
    fn taken(&self, _packet: &mut Packet, _hop: Hop) {}

    /// The overseer of the power policy publishes a number, between two cycles.
    fn hear(&self, _published: u32) {}

    // ---- before and beside a run ------------------------------------------------------------------------------------

    /// Every hop that the packet may take at `at`; minimal ones first. [`Step::named`] where `next` always names the only one.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step>;

    /// Why packets can't wait for each other in a circle; by default the check walks every state that a packet can reach.
    fn proof(&self) -> Proof<'_> {
        Proof::EveryState
    }

    /// What rises with each hop of a packet, where [`Proof::Rises`] says so: as a rule the VC class.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        u32::from(hop.class)
    }

    /// What a packet draws for its whole way.
    fn draws(&self) -> Draws {
        Draws::default()
    }

    /// Whether these draws make a difference between two routers.
    fn draws_between(&self, _from: u64, _to: u64) -> bool {
        true
    }

    /// The packet over every intermediate or path that `inject` may draw for it at `at`, all equally likely.
    fn detours(&self, _at: u64, packet: Packet) -> Box<dyn Iterator<Item = Packet> + '_> {
        Box::new(std::iter::once(packet))
    }

    /// A packet in phase `phase` that heads for `target`, as the walks of [`Proof::TwoLegs`] start it.
    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        Packet { target, dest: target, seq: draw, phase, ..Packet::default() }
    }

    /// Whether `next` draws among several hops, afresh at each router.
    fn draws_hops(&self) -> bool {
        false
    }

    /// Whether a hash decides among candidates of equal cost; else the first of them wins.
    fn draws_ties(&self) -> bool {
        false
    }

    /// The hop that a head may always fall back on ([`Proof::Escapes`]).
    fn escape(&self, _at: u64, _dest: u64) -> Option<Hop> {
        None
    }

    /// Where a packet on a detour heads for before its destination.
    fn intermediate(&self, _packet: &Packet) -> Option<u64> {
        None
    }

    /// How it chooses where it compares nothing.
    fn rule_without_queues(&self) -> &'static str {
        "no detour was drawn: the minimal path"
    }

    // ---- links that are switched ------------------------------------------------------------------------------------

    /// Links go on and off by stages, so many of which are on when a run begins.
    fn begin_with_stages(&mut self, _stages: u8) {}

    /// From now on `steps` follow the links with which the policy begins.
    fn assume_first_links(&mut self, _policy: &Arc<dyn Policy>, _managed: &[bool]) {}

    /// From now on `steps` follow all links. True if they did not before, because the policy switches links.
    fn assume_all_links(&mut self) -> bool {
        false
    }

    /// What the packet wants to reach next inside a subnetwork: its leg there, or else a hop that leads out.
    fn aim(&self, _at: u64, packet: &Packet, _seed: u64) -> Result<Leg, Hop> {
        Err(Hop::to_terminal(packet))
    }
}

/// What a routing is whatever its parameters are.
#[derive(Clone, Copy)]
pub struct About {
    /// The graphs that it routes, in words, and whether this is one of them.
    pub routes: &'static str,
    pub fits: fn(&Graph) -> bool,
    /// What it must know of links that are off.
    pub links: LinkKnowledge,
}

/// The configuration of a routing.
pub trait RoutingModel {
    type Routing: Routing + 'static;
    /// The graphs that it routes, in words.
    const ROUTES: &'static str;

    /// What it must know of links that are off.
    const LINKS: LinkKnowledge = LinkKnowledge::Nothing;
    /// All of this, for the registry.
    const ABOUT: About = About { routes: Self::ROUTES, fits: Self::fits, links: Self::LINKS };

    /// Whether this is one of them.
    fn fits(graph: &Graph) -> bool;

    /// The routing on a graph that fits; refuses what it can't do there.
    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal>;
}

/// What the registry makes of every [`RoutingModel`].
pub trait AnyRoutingModel {
    fn build_any(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal>;
}

impl<M: RoutingModel> AnyRoutingModel for M {
    fn build_any(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(self.build(graph)?))
    }
}

/// A routing that can be compiled for the loop.
pub trait AnyRouting: Routing {
    /// Its hops ahead.
    fn ahead(self: Arc<Self>) -> Box<dyn Ahead>;
    /// Its decisions at heads, for ports of 8 VCs.
    fn narrow(self: Arc<Self>) -> Box<dyn HeadRouting<8>>;
    /// The same for ports of 16 VCs.
    fn wide(self: Arc<Self>) -> Box<dyn HeadRouting<16>>;
}

impl<R: Routing + 'static> AnyRouting for R {
    fn ahead(self: Arc<Self>) -> Box<dyn Ahead> {
        Box::new(Compiled(self))
    }

    fn narrow(self: Arc<Self>) -> Box<dyn HeadRouting<8>> {
        Box::new(Compiled(self))
    }

    fn wide(self: Arc<Self>) -> Box<dyn HeadRouting<16>> {
        Box::new(Compiled(self))
    }
}

impl dyn AnyRouting {
    /// How an adaptive routing chooses, in words.
    pub fn rule(&self) -> &'static str {
        if self.needs().decides == Decides::EachStep {
            "in every step the one with the most credits among those with room; the last, its escape, if none has"
        } else if self.draws_ties() {
            "the least cost; a hash of the packet decides between equal ones"
        } else {
            "the first, unless its cost is above that of one of the others, drawn at random"
        }
    }

    /// The choices that an idle network leaves: with all queues empty the first wins, or the first of equal ones that the
    /// routing draws among.
    pub fn idle_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut choices = self.steps(at, packet, seed);
        if let Some(Some(first)) = choices.first().map(|c| c.cost) {
            let equal = |c: &Step| c.cost.is_some_and(|c| (c.hops, c.bias) == (first.hops, first.bias));
            let keep = if self.draws_ties() { choices.iter().take_while(|c| equal(c)).count() } else { 1 };
            choices.truncate(keep);
        }
        choices
    }

    /// The packet with every path that it may draw when it is made, all equally likely: intermediates or ways up
    /// (`detours`), and with each of these every one of `draws` ([`Draws::outcomes`]).
    pub fn starts(&self, at: u64, packet: Packet, draws: &[u32]) -> Vec<Packet> {
        let matter = self.needs().draws_path || self.draws_between(at, packet.dest);
        let draws = &draws[..if matter { draws.len() } else { 1 }];
        let with = |start: Packet| draws.iter().map(move |&seq| Packet { seq, ..start });
        self.detours(at, packet).flat_map(with).collect()
    }
}

/// The port in dimension order across complete lines of a grid; `None` at the destination. `ports`: first of each dimension.
#[inline(always)]
pub fn hop_in_order(ports: &[u8; 8], at: u64, packet: &Packet) -> Option<u8> {
    let differ = at ^ packet.dest;
    if differ == 0 {
        return None;
    }
    let shift = differ.trailing_zeros() & !7;
    let (own, to) = ((at >> shift) as u8, (packet.dest >> shift) as u8);
    Some(ports.hot(shift as usize / 8) + to - u8::from(to > own))
}

/// A choice that weighs the queue of a hop against another: congestion times `hops`, plus `bias`.
#[inline(always)]
pub fn weigh<Q: View + ?Sized>(here: &Q, at: u64, hop: Hop, hops: u32, bias: i32) -> i32 {
    here.weigh(hop, Cost { at, port: hop.port, hops, bias }, here.read(hop.port))
}

/// A hash of (seed, packet, salt), for choices that must not depend on the order of events.
#[inline(always)]
pub fn draw(seed: u64, packet: &Packet, salt: u64) -> u64 {
    hash(seed, packet.src, packet.seq, salt)
}
