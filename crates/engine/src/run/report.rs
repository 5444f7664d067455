//! Computes the outcome of a run from the counters of the blocks.

use crate::network::recordings;
use crate::network::simulation::Simulation;
use crate::network::spec::{Spec, Stop};
use crate::run::channel_uses::Accounts;
use crate::run::journey;
use crate::run::measure::Findings;
use crate::run::outcome::{
    Batch, ChannelCount, ClassOutcome, Congestion, JobOutcome, LimitedFlow, MarkCount, Measured, Outcome, PacketSums,
    SetAside, SetAsideCount,
};
use weft_api::activity;
use weft_api::classes::MessageClass;
use weft_api::recording::{Column, Table};
use weft_api::state::{Account, ChannelEnd};
use weft_kernel::face::AnyBlock;
use weft_kernel::tally::Tally;
use weft_topology::{Graph, Peer};

impl Simulation {
    /// Marks and notifications of the run, and the flows that are limited now; `None` without congestion control.
    fn congestion(&self) -> Option<Congestion> {
        let control = self.net.congestion.as_ref()?;
        let (mut counts, mut limited) = (MarkCount::default(), Vec::new());
        for block in &self.blocks {
            let interfaces = block.interfaces();
            counts.add(&interfaces.limits.counts);
            for (&(terminal, dst), flow) in &interfaces.limits.limited {
                let src = interfaces.terminals[terminal as usize].id;
                limited.push(LimitedFlow { src, dst, rate: control.rate(&flow.memory, self.now) });
            }
        }
        limited.sort_unstable_by_key(|flow| (flow.src, flow.dst));
        Some(Congestion { counts, limited })
    }

    /// Queues set aside for congested outputs; `None` if the queueing scheme sets no queues aside.
    fn set_aside(&self) -> Option<SetAside> {
        self.net.set_aside.as_ref()?;
        let mut all = SetAside { counts: SetAsideCount::default(), out: 0, lines: 0 };
        for block in &self.blocks {
            let asides = block.set_asides();
            all.counts.add(&asides.counts);
            all.out += asides.tokens.out();
            all.lines += asides.lines.in_use.len() as u64;
        }
        Some(all)
    }

    pub(crate) fn outcome(mut self, spec: &Spec, found: Findings) -> Outcome {
        self.blocks.iter_mut().for_each(|block| block.end_watch(&self.net));
        let mut tally = self.tally();
        let (start, end) = found.window;
        if let Stop::Confidence { .. } = spec.phases.stop {
            tally.batches.truncate((end - start).div_ceil(self.net.times.batch) as usize);
        }
        let mut sums = PacketSums::default();
        tally.batches.iter().for_each(|b| sums.add(b));
        let (latency, network_latency) = tally.histograms();
        let channels = channels(&self.blocks, &spec.graph, &found.closed);
        let packets = Measured { sums: sums.clone(), batches: tally.batches.clone(), latency };
        let jobs = self.jobs(spec, &found, &tally, &packets, &channels);
        let faults = self.by_fault(&tally, found.window);
        let uses = Accounts { spec, channels: &channels };
        let ranks = self.activity(spec);
        let mut recorded = recordings::tables(spec, &mut self.blocks, self.now, end - start, &uses, &ranks);
        recorded.extend(self.tables_of_workloads(spec, end));
        Outcome {
            ending: found.ending,
            saturated: found.saturated,
            cycles: self.now,
            warmup: start,
            window: end - start,
            decisions: found.decisions,
            terminals: spec.graph.terminals(),
            offered_flits: found.offered.flits(),
            injected_flits: tally.injected_flits,
            accepted_flits: tally.accepted_flits,
            backlog_packets: self.backlog(self.now).0,
            waiting_packets: found.waiting,
            fullest: None,
            sums,
            missing_packets: found.offered.packets() - tally.delivered - tally.lost,
            dropped_packets: tally.lost,
            dropped_flits: tally.lost_flits,
            batches: packets.batches,
            latency: packets.latency,
            network_latency,
            hop_counts: tally.hop_counts[..=tally.most_counted()].to_vec(),
            longest_path: tally.longest_path().max(self.longest_under_way()),
            channels,
            asleep: found.asleep,
            jobs,
            classes: by_class(spec, &tally),
            recorded,
            control: found.control,
            congestion: self.congestion(),
            set_aside: self.set_aside(),
            journeys: journey::all(&self.net, &spec.graph, &self.blocks, &spec.watched, spec.router.delay),
            flit_hops: tally.flit_hops,
            serial_cycles: tally.serial_cycles,
            phases: found.phases,
            faults,
        }
    }

    fn jobs(
        &self,
        spec: &Spec,
        found: &Findings,
        tally: &Tally,
        all: &Measured,
        channels: &[ChannelCount],
    ) -> Vec<JobOutcome> {
        let mut injected = vec![0; spec.traffic.jobs.len()];
        for channel in channels.iter().filter(|c| c.from.is_none()) {
            if let Some(job) = self.net.places.job_of(channel.from_port) {
                injected[usize::from(job)] += channel.flits.iter().sum::<u64>();
            }
        }
        if self.net.interface.is_some() {
            // uses counts by job, because an injection channel can carry packets of several jobs
            injected = (0..injected.len()).map(|j| tally.parts.injected_by(j)).collect();
        }
        let jobs = spec.traffic.jobs.iter().zip(&self.net.jobs).enumerate();
        jobs.map(|(j, (job, net))| {
            let (accepted_flits, mut parts) =
                tally.parts.of(j).unwrap_or_else(|| (tally.accepted_flits, vec![all.clone()]));
            parts.iter_mut().for_each(|part| part.batches.truncate(all.batches.len()));
            let mut parts = parts.into_iter();
            let packets = parts.next().unwrap_or_else(|| all.clone());
            let latencies = net.workload.latencies().iter().copied().zip(parts).collect();
            let (offered, done) = (found.offered.by_job[j], tally.parts.done(j));
            JobOutcome {
                name: job.name.clone(),
                terminals: job.terminals.len() as u32,
                offered_flits: offered.flits,
                injected_flits: injected[j],
                accepted_flits,
                missing_packets: offered.packets - packets.sums.packets - tally.parts.lost(j).packets,
                dropped_packets: tally.parts.lost(j).packets,
                packets,
                latencies,
                batch: net.workload.total().map(|packets| Batch {
                    delivered: done.packets,
                    packets,
                    dropped: done.lost,
                    completed: (done.packets + done.lost == packets).then_some(done.last),
                }),
                progress: net.workload.progress(),
                figures: net.workload.figures(found.window.1),
                usages: net.workload.usages(found.window.1),
            }
        })
        .collect()
    }
}

impl Simulation {
    /// The activity of the ranks, for all jobs that record activity.
    fn activity(&self, spec: &Spec) -> Vec<activity::OfJob> {
        let jobs = spec.traffic.jobs.iter().zip(&self.net.jobs);
        jobs.flat_map(|(job, net)| net.workload.activities(&job.name, self.now)).collect()
    }

    /// The tables that workloads write at the end of a run, which is cycle `end`. Tables of several jobs with the same name are joined: the
    /// rows of the first job, then those of the next, and so on.
    fn tables_of_workloads(&self, spec: &Spec, end: u64) -> Vec<(&'static str, Table)> {
        let mut all: Vec<(&'static str, Table)> = Vec::new();
        for (job, net) in spec.traffic.jobs.iter().zip(&self.net.jobs) {
            for (name, mut table) in net.workload.tables(end) {
                let rows = table.columns.first().map_or(0, |(_, column)| column.rows());
                table.columns.insert(0, ("job".into(), Column::Texts(vec![job.name.as_str().into(); rows])));
                match all.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, first)) => first.append(table),
                    None => all.push((name, table)),
                }
            }
        }
        all
    }
}

/// The results of each message class.
fn by_class(spec: &Spec, tally: &Tally) -> Vec<ClassOutcome> {
    let of = |(number, class): (usize, &MessageClass)| {
        let (injected_flits, accepted_flits, mut packets) = tally.parts.of_class(number);
        packets.batches.truncate(tally.batches.len());
        ClassOutcome { name: class.name.clone(), injected_flits, accepted_flits, packets }
    };
    spec.classes.iter().enumerate().map(of).collect()
}

/// The counts of all channels, by sending router and port; the injection channels come last, in the order of the blocks.
fn channels(blocks: &[Box<dyn AnyBlock>], graph: &Graph, closed: &[Vec<Account>]) -> Vec<ChannelCount> {
    // with capacity for all channels, because large networks have millions of them
    let mut channels = Vec::with_capacity(closed.iter().map(Vec::len).sum());
    let mut injections = Vec::with_capacity(graph.terminals() as usize);
    for (block, accounts) in blocks.iter().zip(closed) {
        for (o, (out, account)) in block.outs().zip(accounts).enumerate() {
            let count = |from, from_port, to, to_port| ChannelCount {
                from,
                from_port,
                to,
                to_port,
                class: out.class,
                cycles: account.cycles.clone(),
                flits: account.flits.clone(),
                transitions: account.transitions,
            };
            if out.kind == ChannelEnd::Injection {
                let terminal = block.interfaces().terminals[out.router as usize].id;
                let (router, port) = graph.terminal_at(terminal);
                injections.push(count(None, terminal, Some(router), u32::from(port)));
                continue;
            }
            let router = block.router(out.router as usize);
            let port = o as u32 - router.base;
            match graph.ports(router.id)[port as usize].peer {
                Peer::Unused => {}
                Peer::Terminal(t) => channels.push(count(Some(router.id), port, None, t)),
                Peer::Router { router: to, port: to_port } => {
                    channels.push(count(Some(router.id), port, Some(to), u32::from(to_port)));
                }
            }
        }
    }
    channels.sort_unstable_by_key(|c| (c.from, c.from_port));
    injections.sort_by_key(|c| c.from_port);
    channels.extend(injections);
    channels
}
