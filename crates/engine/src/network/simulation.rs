//! An assembled network that can be advanced in time. The blocks of the network run window by window, on one or more threads.

use crate::network::assemble::{self, Division};
use crate::network::bundles::SleepAccounts;
use crate::network::idle::Idle;
use crate::network::load_readings::LoadReadings;
use crate::network::policy;
use crate::network::rebuild;
use crate::network::spec::{Execution, Spec};
use crate::network::steady::Steady;
use crate::network::threads::{Crew, Post, Windows, advance_all};
use crate::network::whole::Whole;
use std::collections::HashSet;
use std::sync::Arc;
use weft_api::agents::{Overseer, Published};
use weft_api::base::cores::{Pinned, pin};
use weft_api::board::Board;
use weft_api::policy::Policy;
use weft_api::routing::AnyRouting;
use weft_api::state::{ChannelEnd, LinkState};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::Output;
use weft_kernel::face::widths::{AnyAllocator, Compile, Width};
use weft_kernel::net::{Net, Tables};
use weft_kernel::shortcuts::profile::{Kind, Profile};
use weft_kernel::tally::Tally;
use weft_units::Refusal;

mod kept;

/// An assembled network that can be advanced in time.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) net: Net,
    pub(crate) blocks: Vec<Box<dyn AnyBlock>>,
    post: Post,
    /// The additional threads of the run, created when the network first advances on several threads.
    crew: Option<Crew>,
    /// The core of each thread; empty if threads are not pinned.
    cores: Vec<usize>,
    pub(super) window: u64,
    pub(super) windows_done: u64,
    /// Skips cycles in which only steady flows of body flits move.
    pub(crate) steady: Steady,
    /// Skips cycles in which nothing is in flight.
    pub(crate) idle: Idle,
    pub(crate) now: u64,
    pub(crate) division: Division,
    /// Settings for the execution of this run: threads, blocks and shortcuts.
    how: Execution,
    /// For each channel, in the order of the graph: its block, and its index in that block. The list is empty if the policy has no
    /// overseer.
    places: Vec<(u32, u32)>,
    overseer: Option<Box<dyn Overseer>>,
    /// The cycles in which links fail or work again, in descending order. The overseer is notified after each of them.
    faults: Vec<u64>,
    /// Routings with new tables that the run will use later, in descending order of time.
    tables: Vec<Tables>,
    /// The data that the overseer published most recently for the routing.
    published: Option<Published>,
    pub(crate) readings: LoadReadings,
    pub(crate) bundles: SleepAccounts,
}

/// The division into the number of blocks that `how` requests. If `how` requests no number, the number of blocks depends on the size of the
/// network.
fn usual_division(spec: &Spec, how: Execution, net: &Net) -> Division {
    let wanted = if how.blocks == 0 { assemble::usual_blocks(&spec.graph, how.threads) } else { how.blocks };
    assemble::partition(spec, wanted, net.needs.reads_group)
}

impl Simulation {
    pub fn new(spec: &Spec, how: Execution) -> Result<Self, Refusal> {
        Self::of_width(spec, how, spec.width())
    }

    /// Assembles the network with records for at least `width` ports and VCs. The width does not change results.
    pub fn of_width(spec: &Spec, how: Execution, width: Width) -> Result<Self, Refusal> {
        let net = assemble::net(spec)?;
        let division = usual_division(spec, how, &net);
        Self::of(net, spec, how, width, division)
    }

    /// Assembles the network with this division into blocks. The division must depend only on the spec, or on a run of the same spec.
    pub(crate) fn divided(spec: &Spec, how: Execution, division: Division) -> Result<Self, Refusal> {
        Self::of(assemble::net(spec)?, spec, how, spec.width(), division)
    }

    /// Assembles the same network with another division into blocks, in its state of cycle 0. The threads of the run stay on the same
    /// cores.
    pub(crate) fn divided_anew(self, spec: &Spec, division: Division) -> Self {
        let (how, cores) = (self.how, self.cores.clone());
        drop(self); // dropped first, so that only one network uses memory at a time
        let anew = Self::divided(spec, how, division).expect("this spec has been assembled before");
        Self { cores, ..anew }
    }

    /// Assembles the simulation from `net`, the data that all blocks read, and its spec.
    fn of(mut net: Net, spec: &Spec, how: Execution, width: Width, division: Division) -> Result<Self, Refusal> {
        net.keep_shortcuts(how.shortcuts);
        let policy = policy::build(spec)?;
        let allocator = spec.router.allocator.give_to(Compile::of(&net, width));
        Ok(Self::of_parts(spec, how, net, (&*policy, &allocator), division))
    }

    /// Assembles a simulation with these models instead of the spec's models (for tests).
    #[cfg(test)]
    pub(crate) fn of_models(
        spec: &Spec,
        how: Execution,
        net: Net,
        policy: &dyn Policy,
        allocator: &AnyAllocator,
    ) -> Self {
        let division = usual_division(spec, how, &net);
        Self::of_parts(spec, how, net, (policy, allocator), division)
    }

    fn of_parts(
        spec: &Spec,
        how: Execution,
        mut net: Net,
        (policy, allocator): (&dyn Policy, &AnyAllocator),
        division: Division,
    ) -> Self {
        net.notes_after = assemble::notes_after(spec, &division);
        let blocks = assemble::blocks(spec, &net, policy, allocator, &division);
        let overseer = policy::with_site(spec, |site| policy.overseer(site));
        let places = if overseer.is_some() { division.channels(&spec.graph) } else { Vec::new() };
        let window = window(&net, &blocks);
        let threads = how.threads.clamp(1, blocks.len());
        let post = Post::new(&blocks, threads);
        let mut tables = std::mem::take(&mut net.faults.tables);
        tables.reverse();
        let readings = LoadReadings::new(&net.times.changes, &spec.phases, net.times.landing, net.times.policy_repeats);
        let bundles = SleepAccounts::new(spec);
        let may_repeat = overseer.is_none() && blocks.iter().all(|block| block.shortcuts().profile().has(Kind::Steady));
        let looks = blocks.iter().map(|block| 2 * block.outputs() + block.interfaces().terminals.len());
        let idle = Idle::new(looks.sum());
        Self {
            net,
            blocks,
            post,
            crew: None,
            cores: Vec::new(),
            window,
            windows_done: 0,
            steady: Steady::new(may_repeat),
            idle,
            now: 0,
            division,
            how,
            places,
            faults: if overseer.is_some() { rebuild::changes(spec).into_iter().rev().collect() } else { Vec::new() },
            overseer,
            tables,
            published: None,
            readings,
            bundles,
        }
    }

    /// Pins each thread of the run to its own core until the returned guard is dropped. The calling thread gets the first core. Does
    /// nothing if `cores` is empty. Refuses fewer cores than threads, and cores that the system does not permit.
    pub fn pin(&mut self, cores: &[usize]) -> Result<Option<Pinned>, Refusal> {
        if cores.is_empty() {
            return Ok(None);
        }
        let refused =
            |what: String| Refusal::new("cores", what, "give each thread its own permitted core, or do not pin them");
        if cores.len() < self.post.threads() {
            return Err(refused(format!("{} threads need one core each, not {}", self.post.threads(), cores.len())));
        }
        let pinned = Pinned::begin();
        // in reverse order, because the calling thread stays on the core that is pinned last: this core must be the first
        if let Some(core) = cores.iter().rev().find(|&&core| !pin(core)) {
            return Err(refused(format!("the system does not let a thread of this process run on core {core}")));
        }
        self.cores = cores.to_vec();
        Ok(Some(pinned))
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// Number of flit-hops so far: flits that have crossed a router.
    pub fn flit_hops(&self) -> u64 {
        self.blocks.iter().map(|b| b.observers().tally.flit_hops).sum()
    }

    /// Advances to cycle `until`. If routings with new tables are due before `until`, the simulation begins to use each of them between two
    /// cycles.
    pub fn advance(&mut self, until: u64) {
        while let Some(Tables { at, routing }) = self.tables.pop_if(|tables| tables.at < until) {
            self.advance_under_overseer(at);
            self.take_routing(routing);
            self.blocks.iter_mut().for_each(|block| block.policy_mut().faults.hear_of_tables());
        }
        self.advance_under_overseer(until);
    }

    /// Replaces the routing of the network. The overseer must not have published anything to the new routing yet.
    fn take_routing(&mut self, routing: Arc<dyn AnyRouting>) {
        // heads do not call a routing that has tables, so the blocks keep no tables of their own
        self.net.first_ports = routing.first_ports().filter(|_| self.net.refined.is_none());
        self.net.ahead = assemble::ahead(&routing, self.net.refined.as_ref());
        (self.net.routing, self.published) = (routing, None);
    }

    /// Advances to cycle `until`. If the policy has an overseer, it acts between two cycles before `until`.
    fn advance_under_overseer(&mut self, until: u64) {
        let Some(mut overseer) = self.overseer.take() else { return self.advance_blocks(until) };
        while self.now < until {
            let now = self.now;
            // the ends of a link detect a failure in the cycle in which it occurs
            if self.faults.pop_if(|&mut cycle| cycle < now).is_some() {
                overseer.fault(&mut self.whole(), now);
            }
            overseer.act(&mut self.whole(), now);
            if overseer.next() == now {
                overseer.act(&mut self.whole(), now); // asked to act again, now that its first actions have taken effect
            }
            self.skip_acts(&mut *overseer, until);
            let next = overseer.next();
            assert!(
                next > now,
                "an overseer that has acted before cycle {now} must act next in a later cycle, not in {next}"
            );
            let after_fault = self.faults.last().map_or(u64::MAX, |&cycle| cycle.saturating_add(1));
            self.advance_blocks(until.min(next).min(after_fault));
        }
        self.overseer = Some(overseer);
    }

    /// The whole network, in the form that the overseer uses.
    pub(crate) fn whole(&mut self) -> Whole<'_> {
        Whole { net: &mut self.net, blocks: &mut self.blocks, places: &self.places, published: &mut self.published }
    }

    #[cfg(test)]
    pub(crate) fn take_overseer(&mut self) -> Box<dyn Overseer> {
        self.overseer.take().expect("a policy that has one")
    }

    /// Whether the run has no overseer.
    pub(super) fn has_no_overseer(&self) -> bool {
        self.overseer.is_none() && self.tables.is_empty()
    }

    pub(super) fn threads(&self) -> usize {
        self.post.threads()
    }

    /// Whether the power policy takes no further action unless a packet moves.
    pub(crate) fn is_policy_at_rest(&self) -> bool {
        self.has_no_overseer() && self.blocks.iter().all(|block| block.is_policy_at_rest())
    }

    /// Runs the blocks to cycle `until`, cycle by cycle.
    pub(super) fn step_blocks(&mut self, until: u64) {
        if self.blocks.len() == 1 {
            self.blocks[0].advance(&self.net, until);
        } else {
            self.step_all(until);
        }
        self.blocks.iter_mut().for_each(|block| block.settle(&self.net));
        if self.net.notes_after.is_some() {
            // takes the records of the last window, because `due` reads them
            self.blocks.iter_mut().for_each(|block| block.take_notes(&self.net));
        }
        self.now = until;
    }

    /// Runs the blocks to cycle `until`, through `windows` windows, on the threads of the run.
    pub(super) fn step_on_threads(&mut self, until: u64, windows: u64) {
        let (net, now, done) = (&self.net, self.now, self.windows_done);
        let course = Windows { now, until, length: self.window, done };
        advance_all(net, &mut self.blocks, (&self.post, &mut self.crew), &self.cores, course);
        self.windows_done += windows;
    }

    pub(crate) fn housekeeping(&mut self) {
        let now = self.now;
        self.blocks.iter_mut().for_each(|block| block.keep_counters(now));
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut all = self.blocks[0].observers().tally.clone();
        self.blocks[1..].iter().for_each(|b| all.merge(&b.observers().tally));
        all
    }

    /// Number of packets that have been created but not yet delivered or discarded (for tests that no packet is lost).
    pub fn packets_under_way(&self) -> usize {
        self.blocks.iter().map(|b| b.records().packets.in_use()).sum()
    }

    /// The shortcuts that each block uses (for tests).
    pub fn profiles(&self) -> Vec<Profile> {
        self.blocks.iter().map(|block| block.shortcuts().profile()).collect()
    }

    /// Stops the sources, so that the network can drain (for tests whose workloads do not wait for deliveries).
    pub fn stop_sources(&mut self) {
        self.steady.forget();
        self.blocks.iter_mut().for_each(|block| block.stop_sources());
    }

    /// State of every channel between routers, with its sending router, sending port and receiving router (for tests).
    pub fn link_states(&self) -> Vec<(u32, u32, u32, LinkState)> {
        let of_block = |block: &dyn AnyBlock| {
            let next_router = block.records().next_router;
            let links = block.outs().enumerate().filter(|(_, out)| out.is_between_routers());
            let state = |(o, out): (usize, Output<'_>)| {
                let router = block.router(out.router as usize);
                (router.id, o as u32 - router.base, next_router[o], LinkState::of(out.state))
            };
            links.map(state).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(|block| of_block(&**block)).collect()
    }

    /// Checks that both channels of every link are in the same state, and that all routers have correct information about active links.
    /// Call this method only when no control packet is in flight.
    pub fn assert_tables(&self) {
        let Some(nets) = &self.net.subnets else { return };
        let states = self.link_states();
        let on: HashSet<(u32, u32)> =
            states.iter().filter(|s| s.3 == LinkState::On).map(|&(from, _, to, _)| (from, to)).collect();
        for &(from, _, to, state) in &states {
            assert_eq!(state == LinkState::On, on.contains(&(to, from)), "the ends of {from}-{to} disagree");
        }
        for block in &self.blocks {
            for (r, router) in block.places().enumerate() {
                let at = self.net.coords[router.id as usize];
                for d in 0..nets.count {
                    let own = nets.member(at, d);
                    for a in 0..nets.widths[d] {
                        let known = block.views().of(r).row(nets, d, a);
                        let [from, to] = [a, 0].map(|c| nets.router(router.id, d, own, c));
                        let stride = nets.router(router.id, d, own, 1).wrapping_sub(to);
                        let true_row = nets.others(d, a).filter(|&b| on.contains(&(from, to + u32::from(b) * stride)));
                        let true_row = true_row.fold(0u64, |row, b| row | 1 << b);
                        assert_eq!(known, true_row, "what router {} knows of member {a} of {d}", router.id);
                    }
                }
            }
        }
    }

    /// Checks that the agents counted equally many flits on detours at their departure and at their arrival. Returns this number. Call this
    /// method only when nothing is in flight (for tests with one block).
    pub fn assert_meters(&self) -> u64 {
        let block = &self.blocks[0];
        let Some(agents) = block.policy().agents.as_ref() else { return 0 };
        let links = block.outs().enumerate().filter(|(_, out)| out.kind == ChannelEnd::Local);
        links
            .map(|(o, out)| {
                let (sent, came) = (agents.went_around(o).0, agents.went_around(out.peer as usize).1);
                assert_eq!(sent, came, "output {o}");
                u64::from(sent)
            })
            .sum()
    }

    /// Checks that an empty network is in the same state as at the start: all credits have returned, and no VC is requested or held.
    pub fn assert_empty(&self) {
        self.blocks.iter().for_each(|block| block.assert_empty(&self.net));
        let counts =
            self.blocks.iter().filter_map(|block| block.policy().agents.as_ref()).map(|agents| agents.under_way());
        let sums = counts.reduce(|sums, counts| sums.into_iter().zip(counts).map(|(sum, count)| sum + count).collect());
        assert!(
            sums.iter().flatten().all(|&sum| sum == 0),
            "no packet is under way, but the agents count some: {sums:?}"
        );
    }
}

/// The largest number of cycles for which blocks can run without exchanging mail. Anything that a block sends or posts takes effect in
/// another block only after this number of cycles.
fn window(net: &Net, blocks: &[Box<dyn AnyBlock>]) -> u64 {
    let outs = blocks.iter().flat_map(|block| block.outs());
    let classes = outs.filter(|o| o.kind == ChannelEnd::Remote).map(|o| usize::from(o.class));
    let links = classes.map(|c| (net.links[c].latency + net.router.after_grant).min(net.links[c].credit_latency));
    let board = net.common.board.as_ref().map(Board::delay);
    links.chain(board).chain(net.notes_after).min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod boards;
#[cfg(test)]
mod idle;
#[cfg(test)]
mod policies;
#[cfg(test)]
mod steady_flows;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trials;
#[cfg(test)]
mod uncontended_flits;
