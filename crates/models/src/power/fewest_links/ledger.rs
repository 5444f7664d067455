//! The agents of `fewest_links`. The agents of each block count the flits on detours. The planner reads these counts.

use crate::power::detours::{Detours, VcsAround, head_of};
use weft_api::agents::{Agents, BlockSite, Departures, Detour, Probes};
use weft_api::base::kept::Kept;

/// Counts of flits for one channel since the run began (modulo 2^32).
#[derive(Debug, Clone, Copy, Default, Kept)]
pub(super) struct Around {
    /// Flits that would have taken this channel, their direct link, but take a detour instead.
    pub avoided: u32,
    /// Flits that take this channel as a hop of a detour.
    pub taken: u32,
    vcs: VcsAround,
}

/// The counters of one block: one record for each channel. Because Weft refuses faults with this policy, a packet stays on the detour for
/// which it was counted.
#[derive(Debug, Kept)]
pub(super) struct Ledger {
    #[kept(each)]
    channels: Vec<Around>,
    /// True if all packets have one flit.
    #[kept(fixed)]
    single: bool,
    /// For each packet of several flits on a detour: the direct link that it avoids.
    detours: Detours,
}

impl Ledger {
    pub fn new(site: &BlockSite) -> Self {
        let channels = vec![Around::default(); site.channels.len()];
        Self { channels, single: site.single, detours: Detours::new(site) }
    }

    pub fn of(&self, channel: usize) -> Around {
        self.channels[channel]
    }

    fn avoids(&mut self, direct: usize) {
        let avoided = &mut self.channels[direct].avoided;
        *avoided = avoided.wrapping_add(1);
    }
}

impl Agents for Ledger {
    fn probes(&self) -> Probes {
        // a packet of one flit is counted when it chooses its path; only the flits of longer packets are counted when they leave
        Probes { departures: !self.single, ..Probes::default() }
    }

    fn goes_around(&mut self, detour: Detour) {
        if self.single {
            let taken = &mut self.channels[detour.over].taken;
            *taken = taken.wrapping_add(1);
        }
        if let Some(direct) = self.detours.chooses(&detour) {
            self.avoids(direct);
        }
    }

    fn depart(&mut self, batch: &Departures) {
        for flit in batch.flits {
            let (channel, vc, head) = (flit.channel as usize, usize::from(flit.vc), head_of(flit, batch.packets));
            let count = &mut self.channels[channel];
            let around = count.vcs.flit(vc, head.map(|(_, around)| around));
            count.taken = count.taken.wrapping_add(u32::from(around));
            if let Some(direct) = self.detours.sends(channel, vc, head) {
                self.avoids(direct);
            }
        }
    }
}
