//! The functions that the engine calls on the agents of a block.

use super::Phase;
use super::agent::Team;
use super::meters::Counts;
use crate::power::detours::head_of;
use weft_api::agents::{Agents, Arrivals, Breakage, Channels, Departures, Detour, Probes};
use weft_api::control::Arrival;
use weft_api::state::{AROUND, LinkState, NONE};

impl Agents for Team {
    fn probes(&self) -> Probes {
        // the engine reports departing flits to the agents only if packets have several flits; therefore minimal packets of one flit cause
        // no work when they leave
        Probes { arrivals: true, departures: !self.single, ..Probes::default() }
    }

    /// Sets the timers for the ends of the first epochs.
    fn start(&mut self, channels: &mut dyn Channels) {
        for (r, router) in self.routers.iter_mut().enumerate() {
            router.first_end = match self.rules.config.phase {
                Phase::Together => self.rules.epoch,
                Phase::Random => 1 + channels.draw(router.id, 0, 0x7c) % self.rules.epoch,
            };
            channels.set_timer(self.links.len() + r, router.first_end);
        }
    }

    /// Handles the timers of links, which have the lower numbers and come first, and then the timers of routers, which end their epochs.
    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for who in ended.iter().map(|&who| who as usize) {
            match who.checked_sub(self.links.len()) {
                None => self.look(channels, who),
                Some(r) => {
                    self.end_epoch(channels, r);
                    channels.set_timer(who, channels.now() + self.rules.epoch);
                }
            }
        }
    }

    fn rests(&self, who: usize, channels: &dyn Channels) -> Option<u64> {
        let r = who.checked_sub(self.links.len())?;
        self.has_nothing_to_do(channels, r).then_some(self.rules.epoch)
    }

    fn wanted_back(&mut self, wanted: &[u32], channels: &mut dyn Channels) {
        for o in wanted.iter().map(|&o| o as usize) {
            if self.links[o].end.state == LinkState::Shadow {
                let say = self.links[o].end.reactivate();
                self.follow(channels, self.router(o), o);
                self.answer(channels, o, say, false);
            }
        }
    }

    fn receive(&mut self, arrival: Arrival, channels: &mut dyn Channels) {
        self.hear_from(channels, arrival);
    }

    /// Counts a packet of one flit that takes a detour. The flits of a longer packet are counted when they leave.
    fn goes_around(&mut self, detour: Detour) {
        if self.single {
            self.meters.sent_one_around(detour.over);
        }
        if let Some(direct) = self.detours.chooses(&detour) {
            self.leaves_out(direct);
        }
        if let Some(direct) = detour.direct
            && self.links[detour.over].was_crowded
        {
            self.note_crowd(detour.now, direct);
        }
    }

    fn not_around(&mut self, channel: usize) {
        if !self.is_member(self.router(channel), channel) {
            return;
        }
        let left = self.meters.not_around(channel);
        let link = &mut self.links[channel];
        for begun in [&mut link.short.sent_around, &mut link.long.sent_around] {
            // if the packet was counted before this epoch, the stored value at the beginning of the epoch must also become lower by 1
            if *begun == left.wrapping_add(1) {
                *begun = left;
            }
        }
    }

    fn arrive(&mut self, batch: &Arrivals) {
        let packets = batch.packets;
        let goes_around = |packet: u32| packets[packet as usize].flags & AROUND != 0;
        if self.single {
            let came = batch.flits.iter().map(|flit| ((flit.to >> 4) as usize, goes_around(flit.packet)));
            return self.meters.came_single(came);
        }
        for flit in batch.flits {
            let around = (flit.packet != NONE).then(|| goes_around(flit.packet));
            if around.is_some() {
                self.detours.comes(flit.packet);
            }
            self.meters.came((flit.to >> 4) as usize, (flit.to & 15) as usize, around);
        }
    }

    fn depart(&mut self, batch: &Departures) {
        for flit in batch.flits {
            let (channel, vc, head) = (flit.channel as usize, usize::from(flit.vc), head_of(flit, batch.packets));
            self.meters.sent(channel, vc, head.map(|(_, around)| around));
            if let Some(direct) = self.detours.sends(channel, vc, head) {
                self.leaves_out(direct);
            }
        }
    }

    fn fault(&mut self, fault: Breakage, channels: &mut dyn Channels) {
        self.notice(channels, fault);
    }

    fn went_around(&self, port: usize) -> (u32, u32) {
        let Counts { sent_around, came_around, .. } = self.meters.counts(port, 0);
        (sent_around, came_around)
    }
}

impl Team {
    /// Counts a flit on a detour for output `direct`, which leads to the direct link that the flit avoids.
    #[inline(always)]
    fn leaves_out(&mut self, direct: usize) {
        let link = &mut self.links[direct];
        link.around = link.around.saturating_add(1);
        if link.end.state != LinkState::On {
            link.virtually = link.virtually.saturating_add(1);
        }
    }
}
