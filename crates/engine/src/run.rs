//! One run: warm-up, window, drain; blocks advanced window by window on one or more threads.

use crate::Progress;
use crate::assemble;
use crate::barrier::Barrier;
use crate::block::{Block, Mail};
use crate::net::Net;
use crate::outcome::{ChannelCount, Ending, Outcome, PacketSums};
use crate::power::{Account, LinkState};
use crate::spec::{Execution, Spec};
use crate::stall;
use crate::state::{Kind, NONE};
use crate::tally::Tally;
use std::sync::Mutex;
use weft_units::Refusal;

/// Cycles between looks at progress, interruption and stall; during the drain, between looks at its end.
const LOOK: u64 = 1024;
const DRAIN_LOOK: u64 = 256;
/// A run is saturated below this share of the offered load.
const ACCEPTED_SHARE: f64 = 0.97;
/// Stale cycle stamps are brought forward, and counters of 32 bits moved to wider ones, at least this often.
const HOUSEKEEPING: u64 = 1 << 28;

/// An assembled network that can be advanced.
#[derive(Debug)]
pub struct Simulation<const W: usize, const V: usize> {
    net: Net,
    pub(crate) blocks: Vec<Block<W, V>>,
    /// Mail slots [parity][from][to].
    mail: Vec<Mutex<Mail>>,
    window: u64,
    windows_done: u64,
    threads: usize,
    now: u64,
}

impl<const W: usize, const V: usize> Simulation<W, V> {
    pub fn new(spec: &Spec, how: Execution) -> Result<Self, Refusal> {
        let (net, _) = assemble::net(spec)?;
        let wanted = if how.blocks == 0 {
            assemble::blocks_by_size(&spec.graph).max(if how.threads > 1 { how.threads } else { 1 })
        } else {
            how.blocks
        };
        let bounds = assemble::partition(&spec.graph, wanted, net.routing.reads_group());
        let blocks = assemble::blocks(spec, &net, &bounds)?;
        let window = window(&net, &blocks);
        let slots = || blocks.iter().flat_map(|b| &b.outbox).map(with_capacity_of).map(Mutex::new);
        let mail = slots().chain(slots()).collect();
        let threads = how.threads.clamp(1, blocks.len());
        Ok(Self { net, blocks, mail, window, windows_done: 0, threads, now: 0 })
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// Flits that crossed a router so far.
    pub fn flit_hops(&self) -> u64 {
        self.blocks.iter().map(|b| b.tally.flit_hops).sum()
    }

    /// Simulates up to cycle `until`.
    pub fn advance(&mut self, until: u64) {
        let (net, now) = (&self.net, self.now);
        if self.blocks.len() == 1 {
            self.blocks[0].advance(net, until);
        } else {
            let (mail, window, parity) = (&self.mail[..], self.window, self.windows_done);
            let (total, span) = (self.blocks.len(), (now, until, window, parity));
            let share = total.div_ceil(self.threads);
            // 4 blocks on 3 threads are 2 shares of 2
            let barrier = &Barrier::new(total.div_ceil(share));
            let mut shares = self.blocks.chunks_mut(share).enumerate();
            let (_, mine) = shares.next().expect("at least one block");
            if share == total {
                advance_share(net, mine, 0, total, mail, span, barrier); // a scope would allocate
            } else {
                std::thread::scope(|scope| {
                    for (k, blocks) in shares {
                        scope.spawn(move || advance_share(net, blocks, k * share, total, mail, span, barrier));
                    }
                    advance_share(net, mine, 0, total, mail, span, barrier);
                });
            }
            self.windows_done += (until - now).div_ceil(window);
        }
        self.now = until;
    }

    fn housekeeping(&mut self) {
        let now = self.now as u32;
        for block in &mut self.blocks {
            for out in &mut block.outs {
                let age = now.wrapping_sub(out.next_free) as i32;
                if age > 1 << 30 {
                    out.next_free = now.wrapping_sub(1 << 30);
                }
            }
            block.power.flush(&mut block.outs);
        }
    }

    fn tally(&self) -> Tally {
        let mut all = self.blocks[0].tally.clone();
        self.blocks[1..].iter().for_each(|b| all.merge(&b.tally));
        all
    }

    /// Packets that the sources' clocks have created before `until` but not made yet, and those of them in the window.
    fn backlog(&self, until: u64) -> (u64, u64) {
        let (start, end) = self.net.window();
        let (mut all, mut measured) = (0, 0);
        for t in self.blocks.iter().flat_map(|b| &b.terminals).filter(|t| t.rate != u16::MAX) {
            let (mut at, mut gaps) = (t.next_packet, t.gaps.clone());
            if t.packet != NONE {
                // it draws its next gap when the tail of this packet leaves
                at += self.net.gaps[t.rate as usize].draw(&mut gaps);
            }
            while at < until {
                all += 1;
                measured += u64::from(at >= start && at < end);
                at += self.net.gaps[t.rate as usize].draw(&mut gaps);
            }
        }
        (all, measured)
    }

    /// Runs warm-up, window and drain.
    pub fn run(mut self, spec: &Spec, progress: &dyn Progress) -> Outcome {
        let (start, end) = self.net.window();
        let mut watch = Watch::new(spec.phases.stall_limit, end);
        let mut ending = self.advance_watched(start, LOOK, &mut watch, progress);
        if ending.is_none() {
            for block in &mut self.blocks {
                block.power.open(&mut block.outs, start);
            }
            ending = self.advance_watched(start + (end - start) / 2, LOOK, &mut watch, progress);
        }
        let early = self.tally().accepted_flits;
        if ending.is_none() {
            ending = self.advance_watched(end, LOOK, &mut watch, progress);
        }
        let closed: Vec<Vec<Account>> = self.blocks.iter_mut().map(|b| b.power.close(&b.outs, self.now)).collect();
        let offered = self.tally().created + self.backlog(end.min(self.now)).1;
        let ending = ending.unwrap_or_else(|| self.drain(spec, (offered, early), &mut watch, progress));
        let ending = self.explain(ending);
        self.outcome(spec, ending, offered, &closed)
    }

    /// Advances to `until` in steps of `look`; `Some` if the run ends before.
    fn advance_watched(&mut self, until: u64, look: u64, watch: &mut Watch, progress: &dyn Progress) -> Option<Ending> {
        while self.now < until {
            let before = self.now;
            self.advance((self.now + look).min(until));
            if self.now / HOUSEKEEPING != before / HOUSEKEEPING {
                self.housekeeping();
            }
            if !progress.tick(self.now.min(watch.expected), watch.expected) {
                return Some(Ending::Interrupted);
            }
            if watch.nothing_moved(self.now, self.moves())
                && let Some(stall) = stall::find(&self.net, &self.blocks)
            {
                return Some(Ending::Stalled(stall));
            }
        }
        None
    }

    fn moves(&self) -> u64 {
        self.blocks.iter().map(|b| b.tally.flit_hops).sum()
    }

    fn drain(
        &mut self,
        spec: &Spec,
        (offered, early): (u64, u64),
        watch: &mut Watch,
        progress: &dyn Progress,
    ) -> Ending {
        // the second half of the window: flits on their way when it begins are no sign of saturation
        let accepted = (self.tally().accepted_flits - early) as f64;
        let flits = f64::from(spec.traffic.packet_flits);
        let packets = offered as f64 / 2.0;
        // three standard deviations of a Bernoulli count keep short windows from looking saturated by chance
        if accepted < ACCEPTED_SHARE * packets * flits - 3.0 * flits * packets.sqrt() {
            return Ending::Saturated;
        }
        let limit = self.now + spec.phases.drain_limit;
        loop {
            if self.tally_delivered() == offered {
                return Ending::Drained;
            }
            if self.now >= limit {
                return Ending::Saturated;
            }
            if let Some(ending) = self.advance_watched((self.now + DRAIN_LOOK).min(limit), DRAIN_LOOK, watch, progress)
            {
                return ending;
            }
        }
    }

    fn tally_delivered(&self) -> u64 {
        self.blocks.iter().map(|b| b.tally.delivered).sum()
    }

    /// A run that did not drain may hide packets that can never move.
    fn explain(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Saturated => stall::find(&self.net, &self.blocks).map_or(Ending::Saturated, Ending::Stalled),
            other => other,
        }
    }

    fn outcome(&self, spec: &Spec, ending: Ending, offered: u64, closed: &[Vec<Account>]) -> Outcome {
        let tally = self.tally();
        let (latency, network_latency) = tally.histograms();
        let mut sums = PacketSums::default();
        tally.batches.iter().for_each(|b| sums.add(b));
        let longest = tally.hop_counts.iter().rposition(|&n| n > 0).unwrap_or(0);
        Outcome {
            ending,
            cycles: self.now,
            window: spec.phases.window,
            terminals: spec.graph.terminals(),
            offered_flits: offered * u64::from(spec.traffic.packet_flits),
            injected_flits: tally.injected_flits,
            accepted_flits: tally.accepted_flits,
            backlog_packets: self.backlog(self.now).0,
            sums,
            missing_packets: offered - tally.delivered,
            batches: tally.batches,
            latency,
            network_latency,
            hop_counts: tally.hop_counts[..=longest].to_vec(),
            channels: self.channels(spec, closed),
            flit_hops: tally.flit_hops,
        }
    }

    /// Channels by sending router and port, injection channels last, each block in turn.
    fn channels(&self, spec: &Spec, closed: &[Vec<Account>]) -> Vec<ChannelCount> {
        let graph = &*spec.graph;
        let (mut channels, mut injections) = (Vec::new(), Vec::new());
        for (block, accounts) in self.blocks.iter().zip(closed) {
            for (o, (out, account)) in block.outs.iter().zip(accounts).enumerate() {
                let count = |from, from_port, to, to_port| ChannelCount {
                    from,
                    from_port,
                    to,
                    to_port,
                    class: out.class,
                    cycles: account.cycles,
                    flits: account.flits,
                    transitions: account.transitions,
                };
                if out.kind == Kind::Injection {
                    let terminal = block.terminals[out.router as usize].id;
                    let (router, port) = graph.terminal_at(terminal);
                    injections.push(count(None, terminal, Some(router), u32::from(port)));
                    continue;
                }
                let router = &block.routers[out.router as usize];
                let port = o as u32 - router.base;
                match graph.ports(router.id)[port as usize].peer {
                    weft_topology::Peer::Unused => {}
                    weft_topology::Peer::Terminal(t) => channels.push(count(Some(router.id), port, None, t)),
                    weft_topology::Peer::Router { router: to, port: to_port } => {
                        channels.push(count(Some(router.id), port, Some(to), u32::from(to_port)));
                    }
                }
            }
        }
        injections.sort_by_key(|c| c.from_port);
        channels.extend(injections);
        channels
    }

    /// Packets made and not yet delivered (for tests of conservation).
    pub fn packets_under_way(&self) -> usize {
        self.blocks.iter().map(|b| b.packets.in_use()).sum()
    }

    /// Stops the sources: what is under way can drain.
    pub fn stop_sources(&mut self) {
        for block in &mut self.blocks {
            for (t, terminal) in block.terminals.iter_mut().enumerate() {
                terminal.next_packet = u64::MAX / 2;
                if terminal.packet == NONE {
                    block.busy.clear(t);
                }
            }
        }
    }

    /// Checks that an empty network is back to its start: all credits home, no requests, no holders.
    pub fn assert_empty(&self) {
        for block in &self.blocks {
            for out in block.outs.iter().filter(|o| o.kind != Kind::Unused) {
                let link = &self.net.links[out.class as usize];
                for (vc, &c) in out.credits.iter().enumerate().filter(|&(vc, _)| link.all >> vc & 1 != 0) {
                    assert_eq!(c, link.buffer, "credits of VC {vc} of a {:?} channel", out.kind);
                }
                assert_eq!((out.ready, out.wanting), (0, 0));
                assert!(out.free == link.all || out.state != LinkState::On as u8);
            }
            assert!(block.ins.iter().all(|i| i.head.iter().all(|&h| h == NONE)));
            assert!(block.want.iter().all(|w| w.is_empty()));
            assert_eq!((block.segments.in_use(), block.packets.in_use()), (0, 0));
        }
    }
}

/// An empty copy of a mail slot with the same room.
fn with_capacity_of(mail: &Mail) -> Mail {
    Mail {
        flits: Vec::with_capacity(mail.flits.capacity()),
        packets: Vec::with_capacity(mail.flits.capacity()),
        credits: Vec::with_capacity(mail.credits.capacity()),
    }
}

/// Cycles that blocks can run without hearing of each other.
fn window<const W: usize, const V: usize>(net: &Net, blocks: &[Block<W, V>]) -> u64 {
    let classes = blocks.iter().flat_map(|b| &b.outs).filter(|o| o.kind == Kind::Remote).map(|o| o.class as usize);
    classes.map(|c| (net.links[c].latency + net.after_grant).min(net.links[c].credit_latency)).min().unwrap_or(u64::MAX)
}

/// The blocks of one thread, window by window, with mail at the window ends.
fn advance_share<const W: usize, const V: usize>(
    net: &Net,
    blocks: &mut [Block<W, V>],
    first: usize,
    total: usize,
    mail: &[Mutex<Mail>],
    (mut now, until, window, mut parity): (u64, u64, u64, u64),
    barrier: &Barrier,
) {
    while now < until {
        now = (now + window).min(until);
        let slots = &mail[(parity % 2) as usize * total * total..];
        for (k, block) in blocks.iter_mut().enumerate() {
            block.advance(net, now);
            for to in (0..total).filter(|&to| to != first + k) {
                let mut slot = slots[(first + k) * total + to].lock().expect("no panic while holding mail");
                std::mem::swap(&mut *slot, &mut block.outbox[to]);
            }
        }
        barrier.wait();
        for (k, block) in blocks.iter_mut().enumerate() {
            for from in (0..total).filter(|&from| from != first + k) {
                block.take(net, &mut slots[from * total + first + k].lock().expect("no panic while holding mail"));
            }
        }
        parity += 1;
    }
}

/// Notices that nothing moves.
struct Watch {
    limit: u64,
    expected: u64,
    last_moves: u64,
    last_change: u64,
}

impl Watch {
    fn new(limit: u64, expected: u64) -> Self {
        Self { limit, expected, last_moves: 0, last_change: 0 }
    }

    fn nothing_moved(&mut self, now: u64, moves: u64) -> bool {
        if moves != self.last_moves {
            self.last_moves = moves;
            self.last_change = now;
        }
        now - self.last_change >= self.limit
    }
}
