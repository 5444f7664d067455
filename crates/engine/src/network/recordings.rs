//! The recordings of a run: sets up their parts in the blocks, and joins the parts at the end.

use crate::network::assemble::Builder;
use crate::network::rows;
use crate::network::spec::Spec;
use weft_api::recording::{Asked, NetworkSite, Recorded, Recorder, RecorderSite, Sender, Table};
use weft_api::state::{ChannelEnd, LinkState};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::Output;
use weft_kernel::recorders::{Part, Recorders};
use weft_units::Refusal;

impl Spec {
    /// Refuses recordings whose parameters do not go with the network.
    pub fn check_recordings(&self) -> Result<(), Refusal> {
        let (network, nowhere) = (site(self), RecorderSite::default());
        self.recordings.iter().try_for_each(|asked| part(asked, &network, &nowhere).map(|_| ()))
    }
}

/// The part of a recording for a block.
fn part(asked: &Asked, network: &NetworkSite, block: &RecorderSite) -> Result<Box<dyn Recorder>, Refusal> {
    asked.model.part(network, block, &format!("measure.{}", asked.name))
}

/// What recordings know of the network.
pub(super) fn site(spec: &Spec) -> NetworkSite {
    let managed = |class: u8| spec.managed[usize::from(class)];
    let links = *rows::first_links(&spec.graph).last().unwrap_or(&0);
    let terminals = if managed(0) { spec.graph.terminals() as usize } else { 0 };
    NetworkSite {
        cycle_fs: spec.cycle_fs,
        channels: (links + spec.graph.terminals()) as usize,
        managed: 2 * (spec.graph.links().filter(|link| managed(link.class)).count() + terminals),
        bandwidths: spec.links.iter().map(|link| link.rate.per_cycle()).collect(),
        classes: spec.graph.class_names().iter().map(|name| name.as_str().into()).collect(),
    }
}

/// Sets up the parts of all recordings in the blocks. The channels must be in their states of cycle 0.
pub(crate) struct Setting {
    network: NetworkSite,
    first_links: Vec<u32>,
}

impl Setting {
    /// `None` if nothing is recorded.
    pub fn new(spec: &Spec) -> Option<Self> {
        (!spec.recordings.is_empty()).then(|| Self { network: site(spec), first_links: rows::first_links(&spec.graph) })
    }
}

impl Builder<'_> {
    /// The recordings of a block.
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
        let site = RecorderSite {
            routers: block.places().map(|router| router.id).collect(),
            channels: block.outs().zip(rows).map(sender).collect(),
        };
        let part = |asked: &Asked| Part {
            recorder: part(asked, network, &site).expect("checked before the blocks are built"),
            hears_deliveries: asked.model.hears_deliveries(),
            sampled: 0,
        };
        Recorders::new(self.spec.recordings.iter().map(part).collect(), site.channels.len())
    }
}

/// The tables of a run that has ended, each with the name of its recording.
pub(crate) fn tables(
    spec: &Spec,
    blocks: &mut [Box<dyn AnyBlock>],
    cycles: u64,
    window: u64,
) -> Vec<(&'static str, Table)> {
    if spec.recordings.is_empty() {
        return Vec::new();
    }
    let network = site(spec);
    let run = Recorded { network: &network, cycles, window };
    let mut parts: Vec<_> = blocks.iter_mut().map(|block| block.end_recordings(cycles).into_iter()).collect();
    let mut table = |asked: &Asked| {
        let own = parts.iter_mut().map(|parts| parts.next().expect("a part of every recording")).collect();
        (asked.name, asked.model.table(own, &run))
    };
    spec.recordings.iter().map(&mut table).collect()
}
