//! Records, for each packet on a detour, the direct link that the packet avoids. Policies count the packet's flits as traffic that would
//! otherwise use this link. The routing chooses the detour once, for the head. But a policy must count each flit in the epoch in which this
//! flit leaves. A packet of 5,000 flits can need several epochs to leave a router. Packets of one flit need no record.

use weft_api::agents::{BlockSite, Departure, Detour};
use weft_api::base::kept::Kept;
use weft_api::state::{AROUND, Packet};

/// Largest number of VCs of an output.
const VCS: usize = 16;

#[derive(Debug, Clone, Kept)]
pub(in crate::power) struct Detours {
    /// Indexed by packet number. While the head of a packet on a detour waits at this router: 1 + the output of the direct link that it
    /// avoids. Otherwise 0.
    waiting: Vec<u32>,
    /// For each VC of each output: 1 + the output of the direct link that the packet now leaving on it avoids. 0 if this packet avoids
    /// none.
    #[kept(each)]
    leaving: Vec<u32>,
    /// True if all packets have one flit. Nothing is recorded for packets of one flit.
    #[kept(fixed)]
    single: bool,
}

impl Detours {
    pub fn new(site: &BlockSite) -> Self {
        Self::of(if site.single { 0 } else { site.channels.len() }, site.single)
    }

    fn of(ports: usize, single: bool) -> Self {
        Self { waiting: Vec::new(), leaving: vec![0; ports * VCS], single }
    }

    /// Called when the head of a packet arrives. Clears the entry of the packet's number, because an earlier packet with this number may
    /// have set it.
    pub fn comes(&mut self, packet: u32) {
        if let Some(direct) = self.waiting.get_mut(packet as usize) {
            *direct = 0;
        }
    }

    /// Called when a packet has chosen a hop of a detour. Returns the output of the direct link that the packet avoids, if its head must be
    /// counted now. The head is counted now if the packet has one flit, or if the head leaves in this step. The later flits of a long
    /// packet are counted when they leave (`sends`).
    #[inline(always)]
    pub fn chooses(&mut self, detour: &Detour) -> Option<usize> {
        if self.single { detour.direct } else { self.long_chooses(detour) }
    }

    fn long_chooses(&mut self, detour: &Detour) -> Option<usize> {
        let direct = detour.direct?;
        let Some(vc) = detour.leaves_on else {
            self.begins(detour.packet, direct);
            return None;
        };
        self.leaves(detour.over, vc.into(), direct);
        Some(direct)
    }

    /// Records that the waiting head of `packet` has chosen a detour at this router, which avoids the direct link at output `direct`.
    fn begins(&mut self, packet: u32, direct: usize) {
        let packet = packet as usize;
        if self.waiting.len() <= packet {
            self.waiting.resize(packet + 1, 0);
        }
        self.waiting[packet] = direct as u32 + 1;
    }

    /// Records that a packet has chosen a detour at this router, which avoids the direct link at output `direct`. The head leaves on VC
    /// `vc` of output `over`.
    fn leaves(&mut self, over: usize, vc: usize, direct: usize) {
        self.leaving[over * VCS + vc] = direct as u32 + 1;
    }

    /// Called when a flit leaves on VC `vc` of output `over`. `head`: if the flit is a head, the number of its packet, and true if the
    /// packet is on a detour. Returns the output of the direct link that the flit's packet avoids, if any.
    pub fn sends(&mut self, over: usize, vc: usize, head: Option<(u32, bool)>) -> Option<usize> {
        let leaving = &mut self.leaving[over * VCS + vc];
        if let Some((packet, around)) = head {
            let waiting = self.waiting.get_mut(packet as usize).map_or(0, std::mem::take);
            *leaving = if around { waiting } else { 0 };
        }
        leaving.checked_sub(1).map(|direct| direct as usize)
    }
}

/// If the flit is a head, returns the number of its packet, and true if the packet is on a detour.
pub(in crate::power) fn head_of(flit: &Departure, packets: &[Packet]) -> Option<(u32, bool)> {
    flit.head.map(|packet| (packet, packets[packet as usize].flags & AROUND != 0))
}

/// A bit mask of the VCs of a channel whose present packet is on a detour. Body flits count like the last head on their VC.
#[derive(Debug, Clone, Copy, Default, Kept)]
pub(in crate::power) struct VcsAround(u16);

impl VcsAround {
    /// Records a flit on VC `vc`. `head`: if the flit is a head, true if its packet is on a detour. Returns true if the flit's packet is on
    /// a detour.
    pub fn flit(&mut self, vc: usize, head: Option<bool>) -> bool {
        if let Some(around) = head {
            self.0 = self.0 & !(1 << vc) | u16::from(around) << vc;
        }
        self.0 >> vc & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Detours, VcsAround};
    use weft_api::agents::Detour;

    #[test]
    fn every_flit_of_a_packet_counts_for_the_link_that_its_head_leaves_out() {
        let mut detours = Detours::of(4, false);
        detours.begins(7, 3);
        // packet 5, on another VC of the same output, takes its direct link
        assert_eq!(detours.sends(1, 0, Some((5, false))), None);
        assert_eq!(detours.sends(1, 2, Some((7, true))), Some(3));
        assert_eq!([detours.sends(1, 0, None), detours.sends(1, 2, None)], [None, Some(3)]);
        // the next head on this VC continues a detour that began at another router
        assert_eq!(detours.sends(1, 2, Some((7, true))), None);
        // the engine reports the detour of this head (`leaves`) only after the head has left
        assert_eq!(detours.sends(0, 1, Some((9, true))), None);
        detours.leaves(0, 1, 2);
        assert_eq!(detours.sends(0, 1, None), Some(2));
        // packet 6 was discarded before it left, and another packet gets the number 6
        detours.begins(6, 1);
        detours.comes(6);
        assert_eq!(detours.sends(3, 0, Some((6, true))), None);
    }

    #[test]
    fn a_detour_counts_as_it_is_chosen_only_if_no_flit_leaves_later() {
        let hop = |direct, leaves_on| Detour { now: 0, over: 1, direct, packet: 7, leaves_on };
        let mut long = Detours::of(4, false);
        assert_eq!(long.chooses(&hop(None, None)), None);
        // the head waits: its packet's flits count when they leave
        assert_eq!(long.chooses(&hop(Some(3), None)), None);
        assert_eq!([long.sends(1, 2, Some((7, true))), long.sends(1, 2, None)], [Some(3); 2]);
        // the head leaves in this step, and the engine reports its departure before its detour
        assert_eq!(long.sends(1, 0, Some((7, true))), None);
        assert_eq!(long.chooses(&hop(Some(2), Some(0))), Some(2));
        assert_eq!(long.sends(1, 0, None), Some(2));
        let mut single = Detours::of(0, true);
        for leaves_on in [None, Some(5)] {
            assert_eq!(single.chooses(&hop(Some(3), leaves_on)), Some(3));
            assert_eq!(single.chooses(&hop(None, leaves_on)), None);
        }
    }

    #[test]
    fn flits_do_as_the_last_head_on_their_vc_did() {
        let mut vcs = VcsAround::default();
        assert!(vcs.flit(3, Some(true)) && !vcs.flit(0, Some(false)) && vcs.flit(15, Some(true)));
        assert!(vcs.flit(3, None) && !vcs.flit(0, None) && vcs.flit(15, None));
        assert!(!vcs.flit(3, Some(false)) && !vcs.flit(3, None) && vcs.flit(15, None));
    }
}
