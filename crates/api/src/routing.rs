//! Routing algorithms: the interface that the engine calls, with defaults where these are possible.
//!
//! In the loop the engine asks a routing when a packet is created (`inject`), and for each hop: one hop ahead (`next`,
//! which sees only coordinates and the packet), when the packet becomes the head of its VC (`at_head`, which also sees
//! the queues of the router), or in every allocation step (`each_step`). [`Needs::decides`] says which of these. A
//! packet carries data for its routing: `target`, `phase`, `dim`, `lane` and two flags belong to the routing. Random
//! choices are hashes of (seed, packet, place), so results do not depend on the order of events.
//!
//! Before a run, the dependency check (`proof`), `weft check` and `weft explain` (`steps`) follow packets hop by hop
//! through the same routing, with the functions that the loop uses.

use super::agents::Published;
use super::board::Posts;
use super::compiled::{Ahead, Compiled, HeadRouting};
use super::examples::Example;
use super::policy::{LinkKnowledge, Policy};
use super::sensor::Sensor;
use super::subnetworks::Leg;
use super::view::{HopNote, View};
use super::walk::{Cost, Draws, Outcomes, Proof, Step};
use crate::base::hash::hash;
use crate::state::Packet;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Refusal, Remark};

/// An output port and the VC class on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    pub port: u16,
    pub class: u8,
}

impl Hop {
    /// The hop to the terminal of a packet that is at its destination router.
    #[inline(always)]
    pub fn to_terminal(packet: &Packet) -> Self {
        Self { port: packet.dst_port, class: 0 }
    }
}

/// VC classes that a routing needs on every link class (index as in the graph; terminal links need one).
pub type Classes = Vec<u8>;

/// When a routing chooses the next hop of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decides {
    /// `next` names every hop, before the packet comes to the router.
    #[default]
    Ahead,
    /// If `next` names no hop, `at_head` does, once, when the packet becomes the head of its VC.
    AtHead,
    /// If `next` names no hop, `each_step` does, in every allocation step until the head gets a VC.
    EachStep,
}

/// What a routing does for a head whose output leads over a link that has failed. (Where the power policy replaces links that
/// fail, `network/faults.rs`, it is not asked.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AroundFaults {
    /// Its path has no other hop: the packet is discarded.
    Drops,
    /// It takes another of the hops that [`Routing::steps_around`] lists, if the link of one of them is whole; else the
    /// packet is discarded.
    ChoosesAgain,
    /// It waits until the routing has computed the paths of what is left of the network ([`Routing::rebuild`]). Where none
    /// is left (`next` names no hop) the packet is discarded. Its configuration says so ([`RoutingModel::rebuilds`]).
    Rebuilds,
}

/// Two VC classes that share their VCs: packets enter rings of channels on the first class, and continue in their ring
/// on the second. A head needs room for one packet to move on and for two to enter. So each ring keeps a free place (a bubble),
/// and its packets can't block each other (bubble flow control).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingEntry {
    /// Link class.
    pub link: u8,
    /// VC class of hops into a ring, from a terminal, from another ring or from other VCs.
    pub enter: u8,
    /// VC class of hops from a channel of a ring to the next one; the VCs are those of this class.
    pub move_on: u8,
    /// How many VCs of a channel belong to the ring; `None`: as many as to each other class.
    pub vcs: Option<u8>,
}

/// Needs of a routing.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// VC classes per link class.
    pub classes: Classes,
    /// VC classes on which packets enter rings that keep a bubble. All of them count in `classes`.
    pub ring_entries: Vec<RingEntry>,
    /// A packet leaves its source only if behind its first hop there is room for so many packets more.
    pub free_beside_first: u32,
    /// A head may wait for more room behind an output than one packet needs. Each credit then lets it choose again.
    pub waits_for_room: bool,
    pub decides: Decides,
    /// The sensor of congestion of an output; `None` if it reads no queues.
    pub sensor: Option<Sensor>,
    /// `inject` draws the path of every packet: an intermediate, or one of several minimal paths.
    pub draws_path: bool,
    /// Paths depend on the terminals of a packet, not only on their routers.
    pub sees_terminals: bool,
    /// It reads the queues of all routers of its group. The engine then keeps each group in one block.
    pub reads_group: bool,
    /// Numbers that its routers post on the board, if they do ([`Routing::post`], [`View::post`]).
    pub posts: Option<Posts>,
    /// The engine is to call `taken` for every head that gets a VC.
    pub remembers: bool,
    /// It asks which outputs were granted to a head in this cycle ([`View::was_granted`]).
    pub sees_grants: bool,
    /// `each_step` names the port of [`Routing::candidates`] that ranks highest by the credits of this VC class, if one of
    /// them is open, and writes nothing into the packet then. Where no links form trunks the engine compares them itself,
    /// and asks `each_step` only if none is open.
    pub compares_credits_of: Option<u8>,
}

impl Needs {
    /// VC classes on which packets enter rings, on links of class `link`.
    pub fn ring_entries_on(&self, link: usize) -> impl Iterator<Item = RingEntry> + '_ {
        self.ring_entries.iter().copied().filter(move |entry| usize::from(entry.link) == link)
    }

    /// VC classes that have VCs of their own on links of class `link`. So many VCs are enough.
    pub fn least_vcs(&self, link: usize) -> u8 {
        let more: u8 = self.ring_entries_on(link).filter_map(|entry| entry.vcs).map(|vcs| vcs - 1).sum();
        self.classes[link] - self.ring_entries_on(link).count() as u8 + more
    }
}

/// A routing algorithm on one network.
pub trait Routing: Debug + Send + Sync {
    /// Needs of the routing. The engine asks this once per run.
    fn needs(&self) -> Needs;

    /// One number per router, each another one. The engine hands it to the routing as `at` and in `Packet::dest`. By
    /// default these are coordinates on the grid of the network, else in its groups, else in its tree, else the numbers
    /// of the routers. A routing that computes with another view than the first of these names it
    /// ([`coordinates`](super::coordinates)).
    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        super::coordinates::of_all(graph)
    }

    // ---- in the loop ------------------------------------------------------------------------------------------------

    /// First port of each dimension, for a routing whose `next` always takes the direct link in the lowest dimension in
    /// which the packet is not at its destination yet, on VC class 0. The engine then finds the hop without a call
    /// ([`hop_in_order`]).
    fn first_ports(&self) -> Option<[u16; 8]> {
        None
    }

    /// The packet is created. An oblivious routing draws its intermediate or its path here ([`Needs::draws_path`]).
    fn inject(&self, _packet: &mut Packet, _seed: u64) {}

    /// The hop of the packet at the router with coordinates `at`; `None` if that depends on the queues there.
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop>;

    /// The hop of a packet that has become the head of its VC at `at` ([`Decides::AtHead`]).
    fn at_head<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _seed: u64) -> Hop
    where
        Self: Sized,
    {
        unreachable!("{self:?} names no hop ahead, and has no `at_head` that would")
    }

    /// The candidate that a head at `at` requests in this allocation step ([`Decides::EachStep`]); `None` if it
    /// requests no output now. It is asked again when a flit has moved, or a credit, a VC or a link comes. `turn`
    /// decides ties: it differs between the heads of a router, and from cycle to cycle. Data that it writes into the packet
    /// are about this hop. Each further request of the head writes them again.
    fn each_step<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _turn: u32) -> Option<Hop>
    where
        Self: Sized,
    {
        unreachable!("{self:?} names no hop ahead, and has no `each_step` that would")
    }

    /// Ports, a bit each, among which `each_step` chooses by their credits ([`Needs::compares_credits_of`]) as long as the
    /// packet is at the head of its VC at `at`. The lowest of equal rank wins.
    fn candidates(&self, _at: u64, _packet: &Packet) -> u128 {
        unreachable!("{self:?} compares credits, and has no `candidates` that would name the ports")
    }

    /// A head at `at` has got a VC for `hop`. The routing may remember that in the packet ([`Needs::remembers`]). Checks and
    /// explanations call this, too, for each hop of `next` and `steps`. (Of two classes that share their VCs, as
    /// [`RingEntry`] says, the loop does not know which one it was, and names the lower.)
    fn taken(&self, _at: u64, _packet: &mut Packet, _hop: Hop) {}

    /// Note for the power policy about a hop that a head at `at` chose in some step and takes now. The
    /// packet is as before `taken`. Asked only where the routing remembers ([`Needs::remembers`]) and the policy tells
    /// it which links of subnetworks are on.
    fn tells(&self, _at: u64, _packet: &Packet, _hop: Hop) -> HopNote {
        HopNote::Nothing
    }

    /// What the router at `at` posts on the board ([`Needs::posts`]): its numbers, at the start of a cycle. `sent`: the flits
    /// that the terminals of the router have sent since the run began, modulo 2^32.
    fn post<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _sent: impl Fn() -> u32, _numbers: &mut [u32])
    where
        Self: Sized,
    {
        unreachable!("{self:?} has posts, and no `post` that would write them")
    }

    /// The overseer of the power policy has published something, between two cycles.
    fn hear(&self, _published: &Published) {}

    /// Action of a head whose output leads over a link that has failed. It is not asked of a routing that computes its paths
    /// again ([`RoutingModel::rebuilds`]). By default a routing that looks at queues chooses
    /// again, and any other has one hop only. One that goes by the states of links chooses again only if `steps` lists no
    /// link but those that its policy keeps on for the packet.
    fn around_faults(&self) -> AroundFaults {
        match self.needs().decides {
            Decides::Ahead => AroundFaults::Drops,
            Decides::AtHead | Decides::EachStep => AroundFaults::ChoosesAgain,
        }
    }

    /// The routing of what is left of the network: of the same graph without the links that have failed
    /// ([`RoutingModel::rebuilds`]). It names the same coordinates.
    fn rebuild(&self, _left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        unreachable!("{self:?} rebuilds, and has no `rebuild`")
    }

    /// The hops that a head at `at` may take whose output is broken ([`AroundFaults::ChoosesAgain`]). Of those whose link is
    /// whole it takes the one of least cost, of equal ones the first. By default these are all `steps`.
    fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// The packet does not take the hop that `next` has named last; another hop will be named at the same router
    /// ([`AroundFaults::Rebuilds`], and [`AroundFaults::ChoosesAgain`] of a routing that decides ahead).
    fn forget_hop(&self, _packet: &mut Packet) {}

    // ---- before and beside a run ------------------------------------------------------------------------------------

    /// Every hop that the packet may take at `at`, minimal ones first. If `next` always names the hop, this is
    /// [`Step::named`].
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step>;

    /// The hops that may be taken while all queues are empty: the first of `steps`, and all others of equal cost. More
    /// hops may follow: by default all of `steps`. A routing names these alone if there are many others, such as one
    /// over each intermediate.
    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// How likely one of `first_steps` is while all queues are empty, compared with the others. By default all are equally
    /// likely.
    fn weight(&self, _at: u64, _packet: &Packet, _first: &Step, _seed: u64) -> f64 {
        1.0
    }

    /// Why packets can't wait for each other in a circle. By default the check follows every state that a packet can
    /// reach.
    fn proof(&self) -> Proof<'_> {
        Proof::EveryState
    }

    /// The number that rises with each hop of a packet, for [`Proof::Rises`]. By default this is the VC class.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        u32::from(hop.class)
    }

    /// The random choices that a packet makes once, for its whole path.
    fn draws(&self) -> Draws {
        Draws::default()
    }

    /// Whether these choices matter between two routers.
    fn draws_between(&self, _from: u64, _to: u64) -> bool {
        true
    }

    /// One packet per intermediate or path that `inject` may draw for it at `at`, all equally likely.
    fn detours(&self, _at: u64, packet: Packet) -> Outcomes<'_> {
        Outcomes::only(packet)
    }

    /// A packet in phase `phase` that heads for `target`. The check of [`Proof::TwoLegs`] starts with such packets.
    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        Packet { target, dest: target, seq: draw, phase, ..Packet::default() }
    }

    /// Whether `next` draws among several hops, again at each router.
    fn draws_hops(&self) -> bool {
        false
    }

    /// Whether a hash decides between candidates of equal cost; otherwise the first of them wins.
    fn draws_ties(&self) -> bool {
        false
    }

    /// Whether every hop that it may take is on a shortest path, and it may take all of these.
    fn is_minimal(&self) -> bool {
        false
    }

    /// The hop that a head may always fall back on ([`Proof::Escapes`]); `None` only at the destination router.
    fn escape(&self, _at: u64, _dest: u64) -> Option<Hop> {
        None
    }

    /// The most links between routers that a packet crosses, if the routing promises a limit. Every run compares it with the
    /// longest path that it has seen (`run/livelock.rs`).
    fn most_hops(&self) -> Option<u32> {
        None
    }

    /// What to tell of parameters that can run, but do not do here what they are for: `weft check` shows it as hints. `room`:
    /// the flits that the VCs of a VC class on a channel of a link class hold together.
    fn hints(&self, _room: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        Vec::new()
    }

    /// The bias toward the minimal path \[flits\] of a routing that reads all used credits as a queue. Flits and
    /// credits in flight count in them, and the routing leaves minimal paths for them.
    fn bias_of_used_credits(&self) -> Option<i32> {
        None
    }

    /// Remedy of a cycle of channel dependencies, if the routing knows a better one than other parameters or another routing.
    fn cycle_remedy(&self) -> Option<&'static str> {
        None
    }

    /// The intermediate to which a packet on a detour goes first.
    fn intermediate(&self, _packet: &Packet) -> Option<u64> {
        None
    }

    /// Text for users: how it chooses among the hops whose costs it compares, if it does not take the least.
    fn own_rule(&self) -> Option<&'static str> {
        None
    }

    /// Text for users: how it chooses if it compares no queues.
    fn rule_without_queues(&self) -> &'static str {
        "no detour was drawn: the minimal path"
    }

    // ---- links that are switched ------------------------------------------------------------------------------------

    /// The power policy offers this knowledge of links, which is among those that the routing can go by
    /// ([`RoutingModel::LINKS`]).
    fn go_by(&mut self, _links: LinkKnowledge) {}

    /// Refuses a policy that switches links off which the routing needs on, whatever it knows of them. `may_go_off`: whether
    /// links of a class may be off.
    fn check_links(&self, _may_go_off: &[bool]) -> Result<(), Refusal> {
        Ok(())
    }

    /// The overseer of the power policy has published this number when the run begins, and may publish others.
    fn begin_with(&mut self, _published: u64) {}

    /// From now on `steps` uses only the links that are on in cycle 0 under this policy.
    fn assume_first_links(&mut self, _policy: &Arc<dyn Policy>, _managed: &[bool]) {}

    /// From now on `steps` uses all links. Returns whether it did not before, because the policy switches links.
    fn assume_all_links(&mut self) -> bool {
        false
    }

    /// The leg of the packet inside the subnetwork where it is, or the hop that leads out of it. A routing that takes
    /// replacements ([`RoutingModel::TAKES_REPLACEMENTS`]) names it; faults are refused under one that does not.
    fn aim(&self, _at: u64, packet: &Packet, _seed: u64) -> Result<Leg, Hop> {
        Err(Hop::to_terminal(packet))
    }
}

/// Facts of a routing that do not depend on its parameters.
#[derive(Clone, Copy)]
pub struct About {
    /// The graphs that it routes, in words, and a test whether a graph is one of them.
    pub routes: &'static str,
    pub fits: fn(&Graph) -> bool,
    /// Its knowledge of links that are off.
    pub links: &'static [LinkKnowledge],
    /// Whether its heads take the links that a policy switches on in place of those that fail.
    pub takes_replacements: bool,
    /// Whether it can be one leg of a longer path.
    pub can_be_a_leg: bool,
    /// Whether long paths need no more VC classes than short ones.
    pub few_classes: bool,
}

impl About {
    /// Whether it routes this graph, or each of its planes.
    pub fn routes_graph(&self, graph: &Graph) -> bool {
        (self.fits)(graph.plane())
    }
}

/// The configuration of a routing.
pub trait RoutingModel {
    type Routing: Routing + 'static;
    /// The graphs that it routes, in words.
    const ROUTES: &'static str;

    /// What it can go by of links that are off, the most telling first: it goes with a policy that offers one of these. With
    /// `Nothing` among them it also goes with policies under which packets wait for links.
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Nothing];
    /// Whether its heads take the links of subnetworks that a policy switches on in place of those that fail; then
    /// `aim` names the leg of each packet.
    const TAKES_REPLACEMENTS: bool = false;
    /// True if it can be one leg of a longer path, provided that its rings keep no bubble. Then it names every hop ahead.
    /// Of a packet it reads only `dest`, `dim`, `lane` and hashes, and writes only `dim` and `lane`. It needs no other
    /// notification. (Values that it writes into other fields at a broken link are lost.) `dim` and `lane` are 0 where a
    /// leg begins. There is one exception: after a first leg that failures made longer, `lane` is the number of
    /// classes taken so far. So a routing that rebuilds its paths counts classes in `lane`.
    const CAN_BE_A_LEG: bool = false;
    /// Whether long paths need no more VC classes than short ones: refusals of routings that need more propose it.
    const FEW_CLASSES: bool = false;
    /// All these facts, for the registry.
    const ABOUT: About = About {
        routes: Self::ROUTES,
        fits: Self::fits,
        links: Self::LINKS,
        takes_replacements: Self::TAKES_REPLACEMENTS,
        can_be_a_leg: Self::CAN_BE_A_LEG,
        few_classes: Self::FEW_CLASSES,
    };

    /// Whether it routes this graph.
    fn fits(graph: &Graph) -> bool;

    /// Bytes of the tables that `build` makes, if their size grows faster than the number of ports.
    fn table_bytes(&self, _graph: &Graph) -> u64 {
        0
    }

    /// Whether it computes new paths after each fault ([`Routing::rebuild`]). This is asked before `build`, which may take
    /// seconds.
    fn rebuilds(&self) -> bool {
        false
    }

    /// The routing on a graph that fits. Refuses parameters that do not go with the graph.
    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal>;

    /// Configurations that differ in what matters, the usual one first; one of them with a [`Example::bound`]. Tests run all examples, on
    /// small networks that fit.
    fn examples() -> Vec<Example<Self>>
    where
        Self: Sized;
}

/// A [`RoutingModel`] whose type is hidden: the registry holds routings in this form.
pub trait AnyRoutingModel {
    fn build_any(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal>;
    /// See [`RoutingModel::table_bytes`].
    fn table_bytes_any(&self, graph: &Graph) -> u64;
    /// See [`RoutingModel::rebuilds`].
    fn rebuilds_any(&self) -> bool;
    fn examples() -> Vec<Example<Self>>
    where
        Self: Sized;
}

impl<M: RoutingModel> AnyRoutingModel for M {
    fn build_any(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(self.build(graph)?))
    }

    fn table_bytes_any(&self, graph: &Graph) -> u64 {
        self.table_bytes(graph)
    }

    fn rebuilds_any(&self) -> bool {
        self.rebuilds()
    }

    fn examples() -> Vec<Example<Self>> {
        <M as RoutingModel>::examples()
    }
}

/// A [`Routing`] whose type is hidden, with the forms of it that are compiled for the loop.
pub trait AnyRouting: Routing {
    /// For hops that it names ahead.
    fn ahead(self: Arc<Self>) -> Box<dyn Ahead>;
    /// For decisions at heads, with ports of 8 VCs.
    fn narrow(self: Arc<Self>) -> Box<dyn HeadRouting<8>>;
    /// For decisions at heads, with ports of 16 VCs.
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

impl dyn AnyRouting + '_ {
    /// The coordinates of all routers. A router has those that it has in its plane.
    pub fn all_coordinates(&self, graph: &Graph) -> Vec<u64> {
        graph.in_all_planes(&self.coordinates(graph.plane()))
    }

    /// Text for users: how an adaptive routing chooses.
    pub fn rule(&self) -> &'static str {
        if let Some(rule) = self.own_rule() {
            rule
        } else if matches!(self.proof(), Proof::Escapes) {
            "in every step the one with the most credits among those with room; the last, its escape, if none has"
        } else if self.needs().decides == Decides::EachStep {
            "in every step anew, by the credits"
        } else if self.draws_ties() {
            "the least cost; a hash of the packet decides between equal ones"
        } else {
            "the first, unless its cost is above that of one of the others, drawn at random"
        }
    }

    /// Every hop that the packet may take at `at`, and what it remembers when it has taken it.
    pub fn choices(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut choices = self.steps(at, packet, seed);
        choices.iter_mut().for_each(|step| self.taken(at, &mut step.after, step.hop));
        choices
    }

    /// The hop that `next` names at `at`, if it names one; the packet remembers that it has taken it.
    pub fn take_next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let hop = self.next(at, packet, seed)?;
        self.taken(at, packet, hop);
        Some(hop)
    }

    /// The hops that packets take in an idle network: with all queues empty the first choice wins, or one of the first
    /// equal ones, if the routing draws among these. With them, how many others were listed on the way.
    pub fn idle_steps(&self, at: u64, packet: &Packet, seed: u64) -> (Vec<Step>, usize) {
        let mut choices = self.first_steps(at, packet, seed);
        let listed = choices.len();
        if let Some(Some(first)) = choices.first().map(|c| c.cost) {
            let equal = |c: &Step| c.cost.is_some_and(|c| (c.hops, c.bias) == (first.hops, first.bias));
            let keep = if self.draws_ties() { choices.iter().take_while(|c| equal(c)).count() } else { 1 };
            choices.truncate(keep);
        }
        choices.iter_mut().for_each(|step| self.taken(at, &mut step.after, step.hop));
        let others = listed - choices.len();
        (choices, others)
    }

    /// One packet per possible outcome of the source's random choices, all equally likely: each intermediate or path of
    /// `detours`, combined with each of `draws` ([`Draws::outcomes`]).
    pub fn starts<'a>(&'a self, at: u64, packet: Packet, draws: &'a [u32]) -> Outcomes<'a> {
        let matter = self.needs().draws_path || self.draws_between(at, packet.dest);
        let draws = &draws[..if matter { draws.len() } else { 1 }];
        let detours = self.detours(at, packet);
        let count = detours.count() * draws.len();
        Outcomes::new(count, move |k| Packet { seq: draws[k % draws.len()], ..detours.nth(k / draws.len()) })
    }
}

/// The port in dimension order, on a grid in which every two routers of a line are joined; `None` at the destination.
/// `ports`: first port of each dimension.
#[inline(always)]
pub fn hop_in_order(ports: &[u16; 8], at: u64, packet: &Packet) -> Option<u16> {
    let differ = at ^ packet.dest;
    if differ == 0 {
        return None;
    }
    let shift = differ.trailing_zeros() & 56; // 8 bits of each of the 8 dimensions
    let (own, to) = ((at >> shift) as u8, (packet.dest >> shift) as u8);
    Some(ports[shift as usize / 8] + u16::from(to) - u16::from(to > own))
}

/// The cost of a path that begins with `hop`: the congestion of its output times `hops`, plus `bias`.
#[inline(always)]
pub fn weigh<Q: View + ?Sized>(here: &Q, at: u64, hop: Hop, hops: u32, bias: i32) -> i32 {
    here.weigh(hop, Cost { at, port: hop.port, hops, bias }, here.read(hop.port))
}

/// A hash of (seed, packet, salt), for choices that must not depend on the order of events.
#[inline(always)]
pub fn draw(seed: u64, packet: &Packet, salt: u64) -> u64 {
    hash(seed, packet.src, packet.seq, salt)
}
