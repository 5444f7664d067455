//! The recordings (tables that the scenario requests) of a run. Each block records a part of each recording, and the parts are joined at
//! the end of the run.

use crate::network::assemble::Builder;
use crate::network::rows;
use crate::network::spec::Spec;
use std::collections::{BTreeMap, BTreeSet};
use weft_api::activity;
use weft_api::recording::{
    Asked, ChannelUses, NetworkSite, Receiver, Recorded, Recorder, RecorderSite, Sender, Table, TerminalSet,
};
use weft_api::state::{ChannelEnd, LinkState};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::{Input, Output};
use weft_kernel::recorders::{Part, Recorders};
use weft_units::Refusal;

impl Spec {
    /// Refuses recordings whose parameters do not suit the network.
    pub fn check_recordings(&self) -> Result<(), Refusal> {
        let (network, nowhere) = (site(self), RecorderSite::default());
        self.recordings.iter().try_for_each(|asked| part(asked, &network, &nowhere).map(|_| ()))
    }
}

/// Creates the part of a recording that one block records.
fn part(asked: &Asked, network: &NetworkSite, block: &RecorderSite) -> Result<Box<dyn Recorder>, Refusal> {
    asked.model.part(network, block, &format!("measure.{}", asked.name))
}

/// Data of the network that the recordings need.
pub(super) fn site(spec: &Spec) -> NetworkSite {
    let managed = |class: u8| spec.managed[usize::from(class)];
    let links_of = |is: &dyn Fn(u8) -> bool| -> usize {
        spec.graph.links().map(|link| usize::from(is(link.class)) + usize::from(is(link.back))).sum()
    };
    let links = *rows::first_links(&spec.graph).last().unwrap_or(&0);
    let terminals = if managed(0) { spec.graph.terminals() as usize } else { 0 };
    NetworkSite {
        cycle_fs: spec.cycle_fs,
        channels: (links + spec.graph.terminals()) as usize,
        managed: links_of(&managed) + 2 * terminals,
        bandwidths: spec.links.iter().map(|link| link.rate.per_cycle()).collect(),
        modes: spec.modes.clone(),
        classes: spec.graph.class_names().iter().map(|name| name.as_str().into()).collect(),
        buffers: spec.links.iter().map(|link| link.buffer).collect(),
        terminals: spec.graph.terminals(),
        in_jobs: {
            let mut all: Vec<u32> = spec.traffic.jobs.iter().flat_map(|job| job.terminals.iter().copied()).collect();
            all.sort_unstable();
            all
        },
        sets: sets(spec),
    }
}

/// The named sets of terminals: each job, and each group of terminals that the pattern of a job distinguishes in at least one phase. If
/// there are several jobs, the name of a group is `JOB.GROUP`.
fn sets(spec: &Spec) -> Vec<TerminalSet> {
    let jobs = &spec.traffic.jobs;
    let mut sets: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for job in jobs {
        sets.entry(job.name.clone()).or_default().extend(&job.terminals);
        for group in job.phases.iter().flat_map(|phase| phase.pattern.groups()) {
            let name = if jobs.len() > 1 { format!("{}.{}", job.name, group.name) } else { group.name.to_owned() };
            let terminals = group.terminals.iter().map(|&rank| job.terminals[rank as usize]);
            sets.entry(name).or_default().extend(terminals);
        }
    }
    let set =
        |(name, terminals): (String, BTreeSet<u32>)| TerminalSet { name, terminals: terminals.into_iter().collect() };
    sets.into_iter().map(set).collect()
}

/// The data from which each block creates its part of each recording. When a block creates its parts, its channels must be in their states
/// of cycle 0.
pub(crate) struct Setting {
    network: NetworkSite,
    first_links: Vec<u32>,
}

impl Setting {
    /// Returns `None` if the run has no recordings.
    pub fn new(spec: &Spec) -> Option<Self> {
        (!spec.recordings.is_empty()).then(|| Self { network: site(spec), first_links: rows::first_links(&spec.graph) })
    }
}

impl Builder<'_> {
    /// Creates the recorders for one block.
    pub(super) fn recorders(&self, block: &dyn AnyBlock) -> Recorders {
        let Some(Setting { network, first_links }) = self.recordings else { return Recorders::default() };
        let rows = rows::of_block(block, first_links);
        let sender = |(out, row): (Output<'_>, Option<u32>)| Sender {
            row,
            router: (out.kind != ChannelEnd::Injection).then_some(out.router),
            class: out.class,
            managed: self.manages(&out),
            state: LinkState::of(out.state),
        };
        let filled_from = rows::filling(&self.spec.graph, first_links);
        let receiver = |input: Input<'_>| Receiver {
            row: filled_from(block.router(input.router as usize).id, usize::from(input.port)),
            class: input.class,
        };
        let site = RecorderSite {
            routers: block.places().map(|router| router.id).collect(),
            channels: block.outs().zip(rows).map(sender).collect(),
            buffers: block.ins().map(receiver).collect(),
        };
        let part = |asked: &Asked| Part {
            recorder: part(asked, network, &site).expect("checked before the blocks are built"),
            hears_deliveries: asked.model.hears_deliveries(),
            hears_paths: asked.model.hears_paths(),
            sampled: 0,
        };
        Recorders::new(self.spec.recordings.iter().map(part).collect(), site.channels.len(), site.buffers.len())
    }
}

/// The recorded tables of a run that has ended, each with the name of its recording.
pub(crate) fn tables(
    spec: &Spec,
    blocks: &mut [Box<dyn AnyBlock>],
    cycles: u64,
    window: u64,
    channels: &dyn ChannelUses,
    ranks: &[activity::OfJob],
) -> Vec<(&'static str, Table)> {
    if spec.recordings.is_empty() {
        return Vec::new();
    }
    let network = site(spec);
    let run = Recorded { network: &network, cycles, window, channels, ranks };
    let mut parts: Vec<_> = blocks.iter_mut().map(|block| block.end_recordings(cycles).into_iter()).collect();
    let mut table = |asked: &Asked| {
        let own = parts.iter_mut().map(|parts| parts.next().expect("a part of every recording")).collect();
        (asked.name, asked.model.table(own, &run))
    };
    spec.recordings.iter().map(&mut table).collect()
}
