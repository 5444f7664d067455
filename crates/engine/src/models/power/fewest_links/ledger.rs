//! The agents of `fewest_links`: they count in each block the flits on detours. The planner reads the counts.

use crate::api::agents::{Agents, Arrivals, BlockSite, Departures, Detour, Probes};
use crate::base::kept::Kept;
use crate::models::power::detours::Detours;
use crate::state::{AROUND, NONE};

/// Flits of one channel since the run began (modulo 2^32).
#[derive(Debug, Clone, Copy, Default, Kept)]
pub(super) struct Around {
    /// Whose direct way it is, but which take a detour.
    pub avoided: u32,
    /// Which take it for a hop of a detour.
    pub taken: u32,
    /// VCs on which the present packet is on a detour.
    vcs: u16,
}

/// Counters of one block, one record for each channel.
#[derive(Debug, Kept)]
pub(super) struct Ledger {
    #[kept(each)]
    channels: Vec<Around>,
    /// All packets have one flit.
    #[kept(fixed)]
    single: bool,
    /// Which direct links longer packets leave out.
    detours: Detours,
}

impl Ledger {
    pub fn new(site: &BlockSite) -> Self {
        let count = site.channels.len();
        let detours = Detours::new(if site.single { 0 } else { count });
        Self { channels: vec![Around::default(); count], single: site.single, detours }
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
        // a packet of one flit is counted as it chooses its path, a longer one flit by flit as it leaves
        Probes { arrivals: !self.single, departures: !self.single, routed: false }
    }

    fn goes_around(&mut self, detour: Detour) {
        let Detour { over, direct, packet, leaves_on, .. } = detour;
        if self.single {
            let taken = &mut self.channels[over].taken;
            *taken = taken.wrapping_add(1);
        }
        let Some(direct) = direct else { return };
        match leaves_on {
            _ if self.single => self.avoids(direct),
            Some(vc) => {
                self.detours.leaves(over, vc.into(), direct);
                self.avoids(direct);
            }
            None => self.detours.begins(packet, direct),
        }
    }

    fn not_around(&mut self, channel: usize) {
        let taken = &mut self.channels[channel].taken;
        *taken = taken.wrapping_sub(1);
    }

    fn arrive(&mut self, batch: &Arrivals) {
        batch.flits.iter().filter(|flit| flit.packet != NONE).for_each(|flit| self.detours.comes(flit.packet));
    }

    fn depart(&mut self, batch: &Departures) {
        for flit in batch.flits {
            let (channel, vc) = (flit.channel as usize, flit.vc);
            let head = flit.head.map(|packet| (packet, batch.packets[packet as usize].flags & AROUND != 0));
            let count = &mut self.channels[channel];
            if let Some((_, around)) = head {
                count.vcs = count.vcs & !(1 << vc) | u16::from(around) << vc;
            }
            count.taken = count.taken.wrapping_add(u32::from(count.vcs >> vc & 1));
            if let Some(direct) = self.detours.sends(channel, vc.into(), head) {
                self.avoids(direct);
            }
        }
    }
}
