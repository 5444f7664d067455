//! Routing algorithms: the interface that the engine calls. Methods have a default where a safe one exists.
//!
//! In the cycle loop the engine calls a routing when a packet is created (`inject`), and once or more for each hop. For a hop, the engine
//! calls one of three methods. The engine calls `next` one hop ahead, with only coordinates and the packet. The engine calls `at_head` when
//! the packet becomes the head of its VC, with the queues of the router as well. The engine calls `each_step` in every allocation step.
//! [`Needs::decides`] selects the method. A packet has fields that only its routing uses: `target`, `phase`, `dim`, `lane` and two flags.
//! Random choices are hashes of (seed, packet, place), so results do not depend on the order of events.
//!
//! Before a run, the dependency check (`proof`), `weft check` and `weft explain` (`steps`) follow packets hop by hop. Checks and
//! explanations call the functions of the routing that the cycle loop also calls.

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
    /// Before a packet leaves its source, the buffer at the end of its first hop must have room for the packet and this number of further
    /// packets.
    pub free_beside_first: u32,
    /// Whether a head can wait until the buffer behind an output has more space than its packet needs. If this is true, heads choose again
    /// after each returned credit.
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
    /// The numbers that the routing's routers post on the board ([`Routing::post`], [`View::post`]); `None` if they
    /// post nothing.
    pub posts: Option<Posts>,
    /// Whether the engine has to call `taken` for every head that gets a VC.
    pub remembers: bool,
    /// Whether the routing reads which outputs a head was granted in this cycle ([`View::was_granted`]).
    pub sees_grants: bool,
    /// `Some(class)`: among the open ports of [`Routing::candidates`], `each_step` returns the port with the highest rank
    /// ([`rank`](super::candidates::rank)), computed from the credits of VC class `class`. In this case `each_step` writes nothing into the
    /// packet. In networks without trunks the engine then compares these ports itself, and calls `each_step` only if no port is open.
    pub compares_credits_of: Option<u8>,
}

impl Needs {
    /// The VC classes on links of class `link` on which packets enter rings.
    pub fn ring_entries_on(&self, link: usize) -> impl Iterator<Item = RingEntry> + '_ {
        self.ring_entries.iter().copied().filter(move |entry| usize::from(entry.link) == link)
    }

    /// Least number of VCs that the routing needs on links of class `link`. The two VC classes of a ring share VCs, so together they need
    /// only the VCs of the ring.
    pub fn least_vcs(&self, link: usize) -> u8 {
        let more: u8 = self.ring_entries_on(link).filter_map(|entry| entry.vcs).map(|vcs| vcs - 1).sum();
        self.classes[link] - self.ring_entries_on(link).count() as u8 + more
    }
}

/// A routing algorithm, built for one network.
pub trait Routing: Debug + Send + Sync {
    /// The requirements of the routing on the network. The engine calls this method once per run.
    fn needs(&self) -> Needs;

    /// A different number for each router, which identifies the router in calls of this routing. The engine passes this number to the
    /// routing as `at` and in `Packet::dest`. By default the numbers are coordinates on the grid of the network. Without a grid, they are
    /// coordinates in its groups, or in its tree. Without these views of the graph, they are router numbers. A routing that needs another
    /// view than the first available one overrides this method ([`coordinates`](super::coordinates)).
    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        super::coordinates::of_all(graph)
    }

    // ---- in the loop ------------------------------------------------------------------------------------------------

    /// First output port of each dimension, for dimension-order routings on a grid of fully connected lines. A routing returns these ports
    /// if its `next` always takes the direct link, on VC class 0, in the lowest dimension in which the packet must still move. The engine
    /// then finds the hop without calling the routing ([`hop_in_order`]).
    fn first_ports(&self) -> Option<[u16; 8]> {
        None
    }

    /// Called when a source creates the packet. An oblivious routing chooses its random intermediate or path here ([`Needs::draws_path`]).
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
    /// engine calls the method again after a flit has moved, or when a credit, a VC or a link becomes available. `turn` decides ties: its
    /// value differs between the heads of a router, and changes from cycle to cycle. The method may write data for this hop into the
    /// packet. The next call for the same head overwrites this data.
    fn each_step<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _packet: &mut Packet, _turn: u32) -> Option<Hop>
    where
        Self: Sized,
    {
        unreachable!("{self:?} chooses no hop ahead, but does not implement `each_step`")
    }

    /// The ports among which `each_step` chooses by their credits while the packet is at the head of its VC at `at`
    /// ([`Needs::compares_credits_of`]), as a bit mask. If ports have equal rank, the lowest port wins.
    fn candidates(&self, _at: u64, _packet: &Packet) -> u128 {
        unreachable!("{self:?} compares credits, but does not implement `candidates`, which returns the ports")
    }

    /// Called when a head at router `at` has got a VC for `hop`. The routing may record the hop in the packet ([`Needs::remembers`]).
    /// Checks and explanations also call this method, for each hop of `next` and `steps`. (If two classes share their VCs, as in
    /// [`RingEntry`], the cycle loop does not know which class the head used, and passes the lower one.)
    fn taken(&self, _at: u64, _packet: &mut Packet, _hop: Hop) {}

    /// Information for the power policy about a hop that a head at `at` chose in an earlier step and takes now. The engine calls this
    /// method before `taken`, so `taken` has not changed the packet yet. The engine calls `tells` only if the routing records hops
    /// ([`Needs::remembers`]) and the policy reports which links of subnetworks are on.
    fn tells(&self, _at: u64, _packet: &Packet, _hop: Hop) -> HopNote {
        HopNote::Nothing
    }

    /// Writes the numbers that the router at `at` posts on the board ([`Needs::posts`]). The engine calls it at the start of a cycle.
    /// `sent`: returns the number of flits that the terminals of the router have sent since the run began, modulo 2^32.
    fn post<Q: View + ?Sized>(&self, _at: u64, _here: &Q, _sent: impl Fn() -> u32, _numbers: &mut [u32])
    where
        Self: Sized,
    {
        unreachable!("{self:?} has posts, but does not implement `post`, which writes them")
    }

    /// Called between two cycles when the overseer of the power policy has published data.
    fn hear(&self, _published: &Published) {}

    /// The rule for a head whose output leads over a failed link. The engine does not call this method for a routing that computes its
    /// paths again ([`RoutingModel::rebuilds`]). By default a routing that reads queues chooses again. Any other routing has only one hop,
    /// so the engine discards the packet. A routing that reads link states may choose again only on one condition: the policy keeps all
    /// links of `steps` on for the packet.
    fn around_faults(&self) -> AroundFaults {
        match self.needs().decides {
            Decides::Ahead => AroundFaults::Drops,
            Decides::AtHead | Decides::EachStep => AroundFaults::ChoosesAgain,
        }
    }

    /// Builds the routing for the network without its failed links ([`RoutingModel::rebuilds`]). The graph `left` is otherwise equal to the
    /// graph of the network. The new routing must use the same coordinates of routers as this one.
    fn rebuild(&self, _left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        unreachable!("{self:?} computes its paths again, but does not implement `rebuild`")
    }

    /// The hops that a head at `at` may take instead of a broken output ([`AroundFaults::ChoosesAgain`]). Of those hops whose links work,
    /// the head takes the first one with the least cost. By default this method returns all hops of `steps`.
    fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// Called when the packet does not take the hop that `next` returned last. The engine will call `next` again at the same router
    /// ([`AroundFaults::Rebuilds`], and [`AroundFaults::ChoosesAgain`] of a routing that decides ahead).
    fn forget_hop(&self, _packet: &mut Packet) {}

    // ---- before a run and for explanations --------------------------------------------------------------------------

    /// Every hop that the packet may take at `at`, minimal hops first. A routing whose `next` always returns the hop implements this method
    /// with [`Step::named`].
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step>;

    /// The hops that packets may take while all queues are empty. These are the first of `steps`, and the other hops with the same cost as
    /// the first. The list may also contain further hops; by default it has all of `steps`. If `steps` has many hops that an idle network
    /// never uses, such as one per intermediate, a routing omits these hops here.
    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.steps(at, packet, seed)
    }

    /// Relative probability of one of the `first_steps` while all queues are empty. By default all hops of `first_steps` are equally
    /// likely.
    fn weight(&self, _at: u64, _packet: &Packet, _first: &Step, _seed: u64) -> f64 {
        1.0
    }

    /// The reason why packets can't wait for each other in a cycle. By default the dependency check follows every state that a packet can
    /// reach.
    fn proof(&self) -> Proof<'_> {
        Proof::EveryState
    }

    /// A number that rises with each hop of a packet, for a proof by [`Proof::Rises`]. By default this number is the VC
    /// class of the hop.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        u32::from(hop.class)
    }

    /// The random choices that a packet makes once for its whole path.
    fn draws(&self) -> Draws {
        Draws::default()
    }

    /// Whether the random choices of `draws` have an effect on packets from router `from` to router `to`.
    fn draws_between(&self, _from: u64, _to: u64) -> bool {
        true
    }

    /// A packet for each intermediate or path that `inject` may choose for the packet at `at`; all are equally likely.
    fn detours(&self, _at: u64, packet: Packet) -> Outcomes<'_> {
        Outcomes::only(packet)
    }

    /// A packet in phase `phase` that must reach the router `target`, with packet number `draw`. The check for [`Proof::TwoLegs`] starts
    /// with packets from this method.
    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        Packet { target, dest: target, seq: draw, phase, ..Packet::default() }
    }

    /// Whether `next` makes a random choice among several hops at each router.
    fn draws_hops(&self) -> bool {
        false
    }

    /// Whether a hash decides between candidates of equal cost; if not, the first candidate wins.
    fn draws_ties(&self) -> bool {
        false
    }

    /// Whether packets take only hops on shortest paths, and may take every such hop.
    fn is_minimal(&self) -> bool {
        false
    }

    /// The escape hop, which a head at `at` may always take ([`Proof::Escapes`]); `None` only at the destination
    /// router.
    fn escape(&self, _at: u64, _dest: u64) -> Option<Hop> {
        None
    }

    /// Maximum number of links between routers that a packet crosses, if the routing guarantees one. At the end of every run, the engine
    /// compares this limit with the longest path of a packet (`run/livelock.rs`).
    fn most_hops(&self) -> Option<u32> {
        None
    }

    /// Remarks about parameters that are valid but do not have their intended effect in this network. `weft check` shows these remarks as
    /// hints. `room(link, class)`: number of flits that fit into all VCs of a VC class on a channel of a link class.
    fn hints(&self, _room: &dyn Fn(usize, u8) -> u32) -> Vec<Remark> {
        Vec::new()
    }

    /// The bias toward the minimal path \[flits\], if the routing counts all used credits as a queue. Used credits include flits and
    /// credits in flight, so this routing possibly leaves minimal paths although no queue exists.
    fn bias_of_used_credits(&self) -> Option<i32> {
        None
    }

    /// Remedy for a cycle of channel dependencies, if this routing has a specific one. (The general remedy is other parameters or another
    /// routing.)
    fn cycle_remedy(&self) -> Option<&'static str> {
        None
    }

    /// The intermediate router that a packet on a detour visits first; `None` if there is none.
    fn intermediate(&self, _packet: &Packet) -> Option<u64> {
        None
    }

    /// Text for users: how the routing chooses among hops with costs, if it does not take the hop of least cost.
    fn own_rule(&self) -> Option<&'static str> {
        None
    }

    /// Text for users: how the routing chooses if it compares no queues.
    fn rule_without_queues(&self) -> &'static str {
        "no detour was drawn, so the packet takes the minimal path"
    }

    // ---- links that are switched ------------------------------------------------------------------------------------

    /// Called with the kind of information about links that the power policy offers. The kind is one of those that the routing can use
    /// ([`RoutingModel::LINKS`]).
    fn go_by(&mut self, _links: LinkKnowledge) {}

    /// Refuses a policy that switches off links without which the routing cannot work, even if it knows their states. `may_go_off`: for
    /// each link class, whether the policy may switch off its links.
    fn check_links(&self, _may_go_off: &[bool]) -> Result<(), Refusal> {
        Ok(())
    }

    /// Called when the run begins, if the power policy publishes a number in cycle 0, such as the number of stages that are on. The
    /// overseer of the policy may publish other numbers later ([`Self::hear`]).
    fn begin_with(&mut self, _published: u64) {}

    /// After this call, `steps` returns only hops over links that are on in cycle 0 under this policy.
    fn assume_first_links(&mut self, _policy: &Arc<dyn Policy>, _managed: &[bool]) {}

    /// After this call, `steps` returns hops over all links again. Returns true if `steps` used only some links before, because the policy
    /// switches links.
    fn assume_all_links(&mut self) -> bool {
        false
    }

    /// The part of the packet's path inside its present subnetwork, or the hop that leads out of the subnetwork. A routing that takes
    /// replacements ([`RoutingModel::TAKES_REPLACEMENTS`]) must implement this method. For other routings, the policy does not replace
    /// failed links.
    fn aim(&self, _at: u64, packet: &Packet, _seed: u64) -> Result<Leg, Hop> {
        Err(Hop::to_terminal(packet))
    }
}

/// Properties of a routing that do not depend on its parameters.
#[derive(Clone, Copy)]
pub struct About {
    /// The graphs on which the routing works, in words.
    pub routes: &'static str,
    /// True for a graph on which the routing works.
    pub fits: fn(&Graph) -> bool,
    /// The kinds of information about dark links that the routing can use.
    pub links: &'static [LinkKnowledge],
    /// Whether heads use the links that a policy switches on to replace failed links.
    pub takes_replacements: bool,
    /// Whether the routing can be used for one leg of a longer path.
    pub can_be_a_leg: bool,
    /// Whether the routing needs no more VC classes for long paths than for short paths.
    pub few_classes: bool,
}

impl About {
    /// Whether the routing works on this graph (in a network of planes: on each plane).
    pub fn routes_graph(&self, graph: &Graph) -> bool {
        (self.fits)(graph.plane())
    }
}

/// The configuration of a routing, as a scenario writes it.
pub trait RoutingModel {
    type Routing: Routing + 'static;
    /// The graphs on which the routing works, in words.
    const ROUTES: &'static str;

    /// The kinds of information about dark links that the routing can use, most detailed first. The routing is compatible with policies
    /// that offer one of these kinds. With `Nothing` in the list, the routing is also compatible with policies under which packets wait for
    /// links.
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Nothing];
    /// Whether heads use the links of subnetworks that a policy switches on to replace failed links. A routing with `true` implements
    /// [`Routing::aim`], which returns the part of a packet's path inside its subnetwork.
    const TAKES_REPLACEMENTS: bool = false;
    /// Whether another routing can use this one for one leg of a longer path, provided that its rings keep no bubble. For use as a leg,
    /// `next` of the routing must return every hop. As a leg, the routing may read only `dest`, `dim`, `lane` and hashes of a packet, and
    /// may write only `dim` and `lane`. As a leg, the routing must not depend on calls of other methods, such as `taken`. If a head meets a
    /// broken link, values that the routing wrote into other fields are lost. At the start of a leg, `dim` and `lane` of the packet are 0.
    /// Exception: if failures made the first leg longer, `lane` is the number of VC classes that the packet has used so far. Therefore a
    /// routing that computes its paths again counts VC classes in `lane`.
    const CAN_BE_A_LEG: bool = false;
    /// Whether the routing needs no more VC classes for long paths than for short paths. If Weft refuses another routing because it needs
    /// too many VC classes, the message proposes this routing.
    const FEW_CLASSES: bool = false;
    /// The constants above in one record, for the registry of routings.
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

    /// Size [bytes] of the tables that `build` makes, if it grows faster than the number of ports.
    fn table_bytes(&self, _graph: &Graph) -> u64 {
        0
    }

    /// Whether the routing computes its paths again after each fault ([`Routing::rebuild`]). Weft calls this method before `build`, because
    /// `build` can take seconds.
    fn rebuilds(&self) -> bool {
        false
    }

    /// Builds the routing for a graph on which it works. Refuses parameters that do not work on this graph.
    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal>;

    /// Configurations for tests, which differ in behaviour. The usual one comes first, and one has an [`Example::bound`]. Tests run all
    /// examples on small networks on which the routing works.
    fn examples() -> Vec<Example<Self>>
    where
        Self: Sized;
}

/// A [`RoutingModel`] as a trait object; the registry calls configurations of routings in this form.
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

/// A [`Routing`] as a trait object, with the forms that are compiled for the cycle loop.
pub trait AnyRouting: Routing {
    /// The compiled form that computes hops ahead.
    fn ahead(self: Arc<Self>) -> Box<dyn Ahead>;
    /// The compiled form that chooses hops for heads, for ports with up to 8 VCs.
    fn narrow(self: Arc<Self>) -> Box<dyn HeadRouting<8>>;
    /// The compiled form that chooses hops for heads, for ports with up to 16 VCs.
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
    /// The coordinates of all routers, by router number. In a network of planes, each router has the coordinates of its
    /// position in its plane.
    pub fn all_coordinates(&self, graph: &Graph) -> Vec<u64> {
        graph.in_all_planes(&self.coordinates(graph.plane()))
    }

    /// Text for users: how an adaptive routing chooses among its hops.
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

    /// Every hop that the packet may take at `at`, each with the packet as `taken` leaves it.
    pub fn choices(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut choices = self.steps(at, packet, seed);
        choices.iter_mut().for_each(|step| self.taken(at, &mut step.after, step.hop));
        choices
    }

    /// The hop that `next` returns at `at`; `None` if the queues there decide. If `next` returns a hop, the method then
    /// calls `taken` for it.
    pub fn take_next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let hop = self.next(at, packet, seed)?;
        self.taken(at, packet, hop);
        Some(hop)
    }

    /// The hops that packets take at `at` in an idle network, and the number of the other possible hops. In an idle network the first hop
    /// of least cost wins. If the routing decides ties at random, any hop of least cost can win.
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

    /// A packet per possible outcome of the source's random choices, all equally likely: each of `detours`, combined with each of `draws`
    /// ([`Draws::outcomes`]).
    pub fn starts<'a>(&'a self, at: u64, packet: Packet, draws: &'a [u32]) -> Outcomes<'a> {
        let matter = self.needs().draws_path || self.draws_between(at, packet.dest);
        let draws = &draws[..if matter { draws.len() } else { 1 }];
        let detours = self.detours(at, packet);
        let count = detours.count() * draws.len();
        Outcomes::new(count, move |k| Packet { seq: draws[k % draws.len()], ..detours.nth(k / draws.len()) })
    }
}

/// The next output port in dimension order, on a grid in which all routers of a line are neighbours; `None` at the destination. `ports`:
/// first port of each dimension.
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

/// The cost of a path that begins with `hop`: congestion of the hop's output times `hops`, plus `bias`.
#[inline(always)]
pub fn weigh<Q: View + ?Sized>(here: &Q, at: u64, hop: Hop, hops: u32, bias: i32) -> i32 {
    here.weigh(hop, Cost { at, port: hop.port, hops, bias }, here.read(hop.port))
}

/// A random number from a hash of (seed, packet, salt), for choices that must not depend on the order of events.
#[inline(always)]
pub fn draw(seed: u64, packet: &Packet, salt: u64) -> u64 {
    hash(seed, packet.src, packet.seq, salt)
}
