//! Routing algorithms: the interface that the engine calls. Methods have a default where a safe one exists.
//!
//! In the loop the engine calls a routing when a packet is created (`inject`), and once or more for each hop. For a hop, the engine calls
//! one of three methods. It calls `next` one hop ahead, with only coordinates and the packet. It calls `at_head` when the packet becomes
//! the head of its VC, with the queues of the router as well. It calls `each_step` in every allocation step. [`Needs::decides`] selects the
//! method. A packet has fields that only its routing uses: `target`, `phase`, `dim`, `lane` and two flags. Random choices are hashes of
//! (seed, packet, place), so results do not depend on the order of events.
//!
//! Before a run, the dependency check (`proof`), `weft check` and `weft explain` (`steps`) follow packets hop by hop. All of them call the
//! same functions of the routing as the loop does.

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

/// A hop of a packet: an output port, and the VC class that the packet takes on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hop {
    pub port: u16,
    pub class: u8,
}

impl Hop {
    /// The last hop of a packet, from its destination router to its terminal.
    #[inline(always)]
    pub fn to_terminal(packet: &Packet) -> Self {
        Self { port: packet.dst_port, class: 0 }
    }
}

/// Number of VC classes that a routing needs on each link class, by class number of the graph; terminal links need one.
pub type Classes = Vec<u8>;

/// The moment at which a routing chooses the next hop of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decides {
    /// `next` returns every hop before the packet reaches the router.
    #[default]
    Ahead,
    /// If `next` returns no hop, `at_head` returns it once, when the packet becomes the head of its VC.
    AtHead,
    /// If `next` returns no hop, `each_step` returns one in every allocation step until the head gets a VC.
    EachStep,
}

/// The rule of a routing for a head whose next link has failed. (The engine does not use this rule if the power policy replaces failed
/// links, see `network/faults.rs`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AroundFaults {
    /// The packet has no other hop, so the engine discards it.
    Drops,
    /// The packet takes another hop of [`Routing::steps_around`] whose link works; if there is none, the engine discards the packet.
    ChoosesAgain,
    /// The packet waits until the routing has computed new paths in the network without the failed parts ([`Routing::rebuild`]). If `next`
    /// then returns no hop, because no path is left, the engine discards the packet. The configuration of the routing declares this rule
    /// ([`RoutingModel::rebuilds`]).
    Rebuilds,
}

/// Two VC classes that share their VCs. Packets enter rings of channels on the first class, and continue in the ring on the second. A head
/// that continues in its ring needs buffer space for one packet; a head that enters the ring needs space for two. Therefore each ring
/// always has free space for one packet (a bubble), and its packets can't block each other (bubble flow control).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingEntry {
    /// Link class of the ring's channels.
    pub link: u8,
    /// VC class of hops that enter a ring: from a terminal, from another ring or from VCs outside rings.
    pub enter: u8,
    /// VC class of hops from one channel of a ring to the next. The ring uses the VCs of this class.
    pub move_on: u8,
    /// Number of VCs that the ring has on each of its channels; `None`: as many VCs as each other class.
    pub vcs: Option<u8>,
}

/// The requirements of a routing on the network: VCs, rings, a sensor and others.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    /// For each link class, the number of VC classes that the routing uses there.
    pub classes: Classes,
    /// The VC classes on which packets enter rings that keep a bubble (free space for one packet). The numbers in
    /// `classes` include these classes.
    pub ring_entries: Vec<RingEntry>,
    /// Number of packets for which the buffer of the first hop must have room, in addition to the packet that leaves its source.
    pub free_beside_first: u32,
    /// Whether a head can wait for more buffer space behind an output than its packet needs. If so, each returned credit lets the head
    /// choose again.
    pub waits_for_room: bool,
    pub decides: Decides,
    /// The sensor that measures the congestion of an output; `None` if the routing does not read queues.
    pub sensor: Option<Sensor>,
    /// Whether `inject` chooses the path of every packet at random: an intermediate router, or one of several minimal
    /// paths.
    pub draws_path: bool,
    /// Whether paths depend on the terminals of a packet, not only on their routers.
    pub sees_terminals: bool,
    /// Whether the routing reads the queues of all routers of its group. The engine then puts all routers of a group into one block.
    pub reads_group: bool,
    /// The numbers that its routers post on the board ([`Routing::post`], [`View::post`]); `None` if they post nothing.
    pub posts: Option<Posts>,
    /// The engine has to call `taken` for every head that gets a VC.
    pub remembers: bool,
    /// The routing reads which outputs were granted to a head in this cycle ([`View::was_granted`]).
    pub sees_grants: bool,
    /// `each_step` returns the open port of [`Routing::candidates`] that has the highest rank by the credits of this VC class, if one is
    /// open. In this case `each_step` writes nothing into the packet. In networks without trunks the engine compares the ports itself, and
    /// calls `each_step` only if none is open.
    pub compares_credits_of: Option<u8>,
}

impl Needs {
    /// VC classes on which packets enter rings, on links of class `link`.
    pub fn ring_entries_on(&self, link: usize) -> impl Iterator<Item = RingEntry> + '_ {
        self.ring_entries.iter().copied().filter(move |entry| usize::from(entry.link) == link)
    }

    /// Number of VC classes that do not share their VCs, on links of class `link`. A number of VCs equal to the number of these classes is
    /// enough.
    pub fn least_vcs(&self, link: usize) -> u8 {
        let more: u8 = self.ring_entries_on(link).filter_map(|entry| entry.vcs).map(|vcs| vcs - 1).sum();
        self.classes[link] - self.ring_entries_on(link).count() as u8 + more
    }
}

/// A routing algorithm, built for one network.
pub trait Routing: Debug + Send + Sync {
    /// Needs of the routing. The engine calls this method once per run.
    fn needs(&self) -> Needs;

    /// A different number for each router. The engine passes the number to the routing as `at` and in `Packet::dest`. By default these are
    /// coordinates on the grid of the network. Without a grid, they are coordinates in its groups, then in its tree, and otherwise the
    /// numbers of the routers. A routing that needs another view than the first available one overrides this method
    /// ([`coordinates`](super::coordinates)).
    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        super::coordinates::of_all(graph)
    }

    // ---- in the loop ------------------------------------------------------------------------------------------------

    /// First port of each dimension. A routing returns it if its `next` always takes the direct link in the lowest dimension in which the
    /// packet has not reached its destination, on VC class 0. The engine then finds the hop without calling the routing ([`hop_in_order`]).
    fn first_ports(&self) -> Option<[u16; 8]> {
        None
    }

    /// Called when the packet is created. An oblivious routing chooses its random intermediate or path here ([`Needs::draws_path`]).
    fn inject(&self, _packet: &mut Packet, _seed: u64) {}

    /// The hop of the packet at the router with coordinates `at`; `None` if the hop depends on the queues of that router.
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop>;

    /// The hop of a packet that has become the head of its VC at `at` ([`Decides::AtHead`]).
    fn at_head<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _seed: u64) -> Hop
    where
        Self: Sized,
    {
        unreachable!("{self:?} chooses no hop ahead, but does not implement `at_head`")
    }

    /// The candidate that a head at `at` requests in this allocation step ([`Decides::EachStep`]); `None` if it requests no output now. The
    /// method is called again when a flit has moved, or when a credit, a VC or a link becomes available. `turn` decides ties: its value
    /// differs between the heads of a router, and changes from cycle to cycle. Data that the method writes into the packet belong to this
    /// hop. The next call for the same head overwrites these data.
    fn each_step<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _turn: u32) -> Option<Hop>
    where
        Self: Sized,
    {
        unreachable!("{self:?} chooses no hop ahead, but does not implement `each_step`")
    }

    /// A set of ports, one bit each. While the packet is at the head of its VC at `at`, `each_step` chooses among these ports by their
    /// credits ([`Needs::compares_credits_of`]). If ports have equal rank, the lowest port wins.
    fn candidates(&self, _at: u64, _packet: &Packet) -> u128 {
        unreachable!("{self:?} compares credits, but does not implement `candidates`, which returns the ports")
    }

    /// Called when a head at `at` has got a VC for `hop`. The routing may record the hop in the packet ([`Needs::remembers`]). Checks and
    /// explanations also call this method, for each hop of `next` and `steps`. (If two classes share their VCs, as in [`RingEntry`], the
    /// loop does not know which of them the head used, and passes the lower one.)
    fn taken(&self, _at: u64, _packet: &mut Packet, _hop: Hop) {}

    /// Information for the power policy about a hop that a head at `at` has chosen in an earlier step and takes now. The packet is in its
    /// state before `taken`. Called only if the routing records hops ([`Needs::remembers`]) and the policy informs it which links of
    /// subnetworks are on.
    fn tells(&self, _at: u64, _packet: &Packet, _hop: Hop) -> HopNote {
        HopNote::Nothing
    }

    /// Writes the numbers that the router at `at` posts on the board ([`Needs::posts`]), at the start of a cycle. `sent`: returns the
    /// number of flits that the terminals of the router have sent since the run began, modulo 2^32.
    fn post<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _sent: impl Fn() -> u32, _numbers: &mut [u32])
    where
        Self: Sized,
    {
        unreachable!("{self:?} has posts, but does not implement `post`, which writes them")
    }

    /// Called between two cycles when the overseer of the power policy has published data.
    fn hear(&self, _published: &Published) {}

    /// The action for a head whose output leads over a failed link. The method is not called for a routing that computes its paths again
    /// ([`RoutingModel::rebuilds`]). By default a routing that reads queues chooses again, and every other routing has only one hop. A
    /// routing that uses the states of links chooses again only if `steps` lists only links that its policy keeps on for the packet.
    fn around_faults(&self) -> AroundFaults {
        match self.needs().decides {
            Decides::Ahead => AroundFaults::Drops,
            Decides::AtHead | Decides::EachStep => AroundFaults::ChoosesAgain,
        }
    }

    /// The routing for the network without the links that have failed ([`RoutingModel::rebuilds`]). The graph is otherwise the same. The
    /// new routing must use the same coordinates.
    fn rebuild(&self, _left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        unreachable!("{self:?} computes its paths again, but does not implement `rebuild`")
    }

    /// The hops that a head at `at` may take if its output is broken ([`AroundFaults::ChoosesAgain`]). Among the hops whose link works, the
    /// head takes the one of least cost; of equal costs, the first. By default the hops are all of `steps`.
    fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// Called when the packet does not take the last hop that `next` has returned. `next` will be called again at the same router
    /// ([`AroundFaults::Rebuilds`], and [`AroundFaults::ChoosesAgain`] of a routing that decides ahead).
    fn forget_hop(&self, _packet: &mut Packet) {}

    // ---- before a run and for explanations --------------------------------------------------------------------------

    /// Every hop that the packet may take at `at`, minimal hops first. If `next` always returns the hop, this is [`Step::named`].
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step>;

    /// The hops that may be taken while all queues are empty: the first of `steps`, and all others with the same cost. The list may contain
    /// further hops: by default it is all of `steps`. A routing returns only the hops of an idle network if `steps` has many others, such
    /// as one over each intermediate.
    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// Relative probability of one of the `first_steps` while all queues are empty. By default all these hops are equally likely.
    fn weight(&self, _at: u64, _packet: &Packet, _first: &Step, _seed: u64) -> f64 {
        1.0
    }

    /// The reason why packets can't wait for each other in a cycle. By default the check follows every state that a packet can reach.
    fn proof(&self) -> Proof<'_> {
        Proof::EveryState
    }

    /// A number that rises with each hop of a packet, for [`Proof::Rises`]. By default this number is the VC class.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        u32::from(hop.class)
    }

    /// The random choices that a packet makes once, for its whole path.
    fn draws(&self) -> Draws {
        Draws::default()
    }

    /// Whether these choices have an effect on packets between two routers.
    fn draws_between(&self, _from: u64, _to: u64) -> bool {
        true
    }

    /// Packets for all intermediates or paths that `inject` may choose for the packet at `at`, one for each; all are equally likely.
    fn detours(&self, _at: u64, packet: Packet) -> Outcomes<'_> {
        Outcomes::only(packet)
    }

    /// A packet in phase `phase` on its way to `target`. The check of [`Proof::TwoLegs`] starts with packets of this kind.
    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        Packet { target, dest: target, seq: draw, phase, ..Packet::default() }
    }

    /// Whether `next` chooses at random among several hops, again at each router.
    fn draws_hops(&self) -> bool {
        false
    }

    /// Whether a hash decides between candidates of equal cost; if not, the first of them wins.
    fn draws_ties(&self) -> bool {
        false
    }

    /// Whether every hop that packets may take is on a shortest path, and packets may take all such hops.
    fn is_minimal(&self) -> bool {
        false
    }

    /// The escape hop that a head may always take ([`Proof::Escapes`]); `None` only at the destination router.
    fn escape(&self, _at: u64, _dest: u64) -> Option<Hop> {
        None
    }

    /// The most links between routers that a packet crosses, if the routing guarantees a limit. At its end every run compares the limit
    /// with its longest path (`run/livelock.rs`).
    fn most_hops(&self) -> Option<u32> {
        None
    }

    /// Remarks about parameters that are valid, but do not have their intended effect in this network: `weft check` shows them as hints.
    /// `room`: returns how many flits fit into all VCs of a VC class on a channel of a link class.
    fn hints(&self, _room: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        Vec::new()
    }

    /// The bias toward the minimal path \[flits\], for a routing that takes all used credits for a queue. Used credits include flits and
    /// credits in flight, so the routing may leave minimal paths because of them.
    fn bias_of_used_credits(&self) -> Option<i32> {
        None
    }

    /// Remedy for a cycle of channel dependencies, if the routing has a more specific one than other parameters or another routing.
    fn cycle_remedy(&self) -> Option<&'static str> {
        None
    }

    /// The intermediate that a packet on a detour visits first.
    fn intermediate(&self, _packet: &Packet) -> Option<u64> {
        None
    }

    /// Text for users: the rule by which the routing chooses among hops with costs, if it does not take the hop of least cost.
    fn own_rule(&self) -> Option<&'static str> {
        None
    }

    /// Text for users: the rule by which the routing chooses if it compares no queues.
    fn rule_without_queues(&self) -> &'static str {
        "no detour was drawn, so the packet takes the minimal path"
    }

    // ---- links that are switched ------------------------------------------------------------------------------------

    /// Informs the routing which kind of information about links the power policy offers. The kind is one of those that the routing can use
    /// ([`RoutingModel::LINKS`]).
    fn go_by(&mut self, _links: LinkKnowledge) {}

    /// Refuses a policy that switches off links that the routing needs, even if it knows their states. `may_go_off`: for each link class,
    /// whether its links may be off.
    fn check_links(&self, _may_go_off: &[bool]) -> Result<(), Refusal> {
        Ok(())
    }

    /// Called when the run begins: the overseer of the power policy has published this number, and may publish others later.
    fn begin_with(&mut self, _published: u64) {}

    /// From now on `steps` uses only the links that are on in cycle 0 under this policy.
    fn assume_first_links(&mut self, _policy: &Arc<dyn Policy>, _managed: &[bool]) {}

    /// From now on `steps` uses all links again. Returns whether it used only some links before, because the policy switches links.
    fn assume_all_links(&mut self) -> bool {
        false
    }

    /// The packet's leg inside its present subnetwork, or the hop that leads out of the subnetwork. A routing that takes replacements
    /// ([`RoutingModel::TAKES_REPLACEMENTS`]) must implement it; for other routings faults are refused.
    fn aim(&self, _at: u64, packet: &Packet, _seed: u64) -> Result<Leg, Hop> {
        Err(Hop::to_terminal(packet))
    }
}

/// Properties of a routing that do not depend on its parameters.
#[derive(Clone, Copy)]
pub struct About {
    /// The graphs on which the routing works, in words, and a test whether a graph is one of them.
    pub routes: &'static str,
    pub fits: fn(&Graph) -> bool,
    /// The information about dark links that the routing can use.
    pub links: &'static [LinkKnowledge],
    /// Whether heads use the links that a policy switches on to replace failed links.
    pub takes_replacements: bool,
    /// Whether the routing can be used for one leg of a longer path.
    pub can_be_a_leg: bool,
    /// Whether long paths need only as many VC classes as short paths.
    pub few_classes: bool,
}

impl About {
    /// Whether the routing works on this graph, or on each of its planes.
    pub fn routes_graph(&self, graph: &Graph) -> bool {
        (self.fits)(graph.plane())
    }
}

/// The configuration of a routing.
pub trait RoutingModel {
    type Routing: Routing + 'static;
    /// The graphs on which the routing works, in words.
    const ROUTES: &'static str;

    /// The kinds of information about dark links that the routing can use, the most detailed first. The routing is compatible with a policy
    /// that offers one of these kinds. If `Nothing` is among them, the routing is also compatible with policies under which packets wait
    /// for links.
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Nothing];
    /// Whether heads use the links of subnetworks that a policy switches on to replace failed links. If so, `aim` returns the leg of each
    /// packet.
    const TAKES_REPLACEMENTS: bool = false;
    /// Whether the routing can be used for one leg of a longer path, provided that its rings keep no bubble. If so, the routing returns
    /// every hop ahead. This routing reads only `dest`, `dim`, `lane` and hashes of a packet, and writes only `dim` and `lane`. It
    /// works without calls of other methods, such as `taken`. At a broken link, values that it writes into other fields are not kept. At
    /// the beginning of a leg, `dim` and `lane` are 0. There is one exception: after a first leg that failures made longer, `lane` is the number
    /// of VC classes taken so far. Therefore a routing that rebuilds its paths counts VC classes in `lane`.
    const CAN_BE_A_LEG: bool = false;
    /// Whether long paths need only as many VC classes as short paths. If another routing is refused because it needs too many VC classes,
    /// the message proposes this one.
    const FEW_CLASSES: bool = false;
    /// All these properties of a routing, for the registry.
    const ABOUT: About = About {
        routes: Self::ROUTES,
        fits: Self::fits,
        links: Self::LINKS,
        takes_replacements: Self::TAKES_REPLACEMENTS,
        can_be_a_leg: Self::CAN_BE_A_LEG,
        few_classes: Self::FEW_CLASSES,
    };

    /// Whether the routing works on this graph.
    fn fits(graph: &Graph) -> bool;

    /// Bytes of the tables that `build` makes, if their size grows faster than the number of ports.
    fn table_bytes(&self, _graph: &Graph) -> u64 {
        0
    }

    /// Whether the routing computes new paths after each fault ([`Routing::rebuild`]). This method is called before `build`, which may take
    /// seconds.
    fn rebuilds(&self) -> bool {
        false
    }

    /// Builds the routing for a graph that fits. Refuses parameters that are incompatible with the graph.
    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal>;

    /// Configurations that differ in behaviour, the usual one first; one of them has a [`Example::bound`]. Tests run all examples, on small
    /// networks that the routing supports.
    fn examples() -> Vec<Example<Self>>
    where
        Self: Sized;
}

/// A [`RoutingModel`] whose type is hidden: the registry stores routings in this form.
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

/// A [`Routing`] whose type is hidden, with its forms that are compiled for the loop.
pub trait AnyRouting: Routing {
    /// The form for hops that are computed ahead.
    fn ahead(self: Arc<Self>) -> Box<dyn Ahead>;
    /// The form for decisions at heads, with ports of 8 VCs.
    fn narrow(self: Arc<Self>) -> Box<dyn HeadRouting<8>>;
    /// The form for decisions at heads, with ports of 16 VCs.
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
    /// The coordinates of all routers. In a network of planes, these are the coordinates of the router in its plane.
    pub fn all_coordinates(&self, graph: &Graph) -> Vec<u64> {
        graph.in_all_planes(&self.coordinates(graph.plane()))
    }

    /// Text for users: the rule by which an adaptive routing chooses.
    pub fn rule(&self) -> &'static str {
        if let Some(rule) = self.own_rule() {
            rule
        } else if matches!(self.proof(), Proof::Escapes) {
            "in every step, the candidate with the most credits among those with room; if none has room, the last \
             candidate, which is the escape"
        } else if self.needs().decides == Decides::EachStep {
            "again in every step, by the credits"
        } else if self.draws_ties() {
            "the lowest cost; a hash of the packet decides between equal costs"
        } else {
            "the first candidate, unless its cost is above that of another candidate, drawn at random"
        }
    }

    /// Every hop that the packet may take at `at`, with the state of the packet after `taken`.
    pub fn choices(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut choices = self.steps(at, packet, seed);
        choices.iter_mut().for_each(|step| self.taken(at, &mut step.after, step.hop));
        choices
    }

    /// The hop that `next` returns at `at`, if any. The routing's `taken` is then called for the packet.
    pub fn take_next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let hop = self.next(at, packet, seed)?;
        self.taken(at, packet, hop);
        Some(hop)
    }

    /// The hops that packets take in an idle network. With all queues empty the first hop of least cost wins, or any hop of least cost if
    /// the routing chooses among them at random. Also returns how many other hops were listed.
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

    /// A packet for each possible outcome of the source's random choices, all equally likely: each intermediate or path of `detours`,
    /// combined with each of `draws` ([`Draws::outcomes`]).
    pub fn starts<'a>(&'a self, at: u64, packet: Packet, draws: &'a [u32]) -> Outcomes<'a> {
        let matter = self.needs().draws_path || self.draws_between(at, packet.dest);
        let draws = &draws[..if matter { draws.len() } else { 1 }];
        let detours = self.detours(at, packet);
        let count = detours.count() * draws.len();
        Outcomes::new(count, move |k| Packet { seq: draws[k % draws.len()], ..detours.nth(k / draws.len()) })
    }
}

/// The port in dimension order, on a grid in which all routers of a line are connected directly; `None` at the destination. `ports`: first
/// port of each dimension.
#[inline(always)]
pub fn hop_in_order(ports: &[u16; 8], at: u64, packet: &Packet) -> Option<u16> {
    let differ = at ^ packet.dest;
    if differ == 0 {
        return None;
    }
    let shift = differ.trailing_zeros() & 56; // 8 bits for each of the 8 dimensions
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
