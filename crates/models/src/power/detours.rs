//! Which direct link each packet of several flits leaves out that leaves a router on a detour. Its head decides, its
//! flits count: a worm of 5,000 flits may continue for several epochs.

use weft_api::agents::{BlockSite, Departure, Detour};
use weft_api::base::kept::Kept;
use weft_api::state::{AROUND, Packet};

/// Marks of VCs: one per output and VC.
const VCS: usize = 16;

#[derive(Debug, Clone, Kept)]
pub(in crate::power) struct Detours {
    /// By number of the packet: the output of the direct link that its head, which has not left yet, leaves out, plus 1;
    /// 0: none.
    waiting: Vec<u32>,
    /// The same for the packet that is leaving on each VC of each output.
    #[kept(each)]
    leaving: Vec<u32>,
    /// All packets have one flit: nothing is remembered of them.
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

    /// Clears the entry of a head that has come, because another packet may have had its number before.
    pub fn comes(&mut self, packet: u32) {
        if let Some(direct) = self.waiting.get_mut(packet as usize) {
            *direct = 0;
        }
    }

    /// Called when a packet has chosen a hop of a detour. Returns the output of the direct link that it leaves out, if
    /// the hop counts now: for a packet of one flit, and for a head that leaves in this step. Other flits count when
    /// they leave (`sends`).
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

    /// Notes that a waiting head begins a detour here, and leaves out the direct link of output `direct`.
    fn begins(&mut self, packet: u32, direct: usize) {
        let packet = packet as usize;
        if self.waiting.len() <= packet {
            self.waiting.resize(packet + 1, 0);
        }
        self.waiting[packet] = direct as u32 + 1;
    }

    /// Notes that the packet whose head leaves on VC `vc` of output `over` begins a detour here.
    fn leaves(&mut self, over: usize, vc: usize, direct: usize) {
        self.leaving[over * VCS + vc] = direct as u32 + 1;
    }

    /// Called when a flit leaves on VC `vc` of output `over`. `head`: the number of its packet if it is a head, and
    /// whether the packet is on a detour. Returns the output of the direct link that it leaves out.
    pub fn sends(&mut self, over: usize, vc: usize, head: Option<(u32, bool)>) -> Option<usize> {
        let leaving = &mut self.leaving[over * VCS + vc];
        if let Some((packet, around)) = head {
            let waiting = self.waiting.get_mut(packet as usize).map_or(0, std::mem::take);
            *leaving = if around { waiting } else { 0 };
        }
        leaving.checked_sub(1).map(|direct| direct as usize)
    }
}

/// The packet of a flit that leaves, if that is a head, and whether it is on a detour.
pub(in crate::power) fn head_of(flit: &Departure, packets: &[Packet]) -> Option<(u32, bool)> {
    flit.head.map(|packet| (packet, packets[packet as usize].flags & AROUND != 0))
}

/// The VCs of a channel on which the present packet is on a detour: all flits of a packet follow its head.
#[derive(Debug, Clone, Copy, Default, Kept)]
pub(in crate::power) struct VcsAround(u16);

impl VcsAround {
    /// A flit on VC `vc`; `head`: whether its packet is on a detour, if it is a head. Returns whether its packet is.
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
        // another packet on another VC of the same output, which goes directly
        assert_eq!(detours.sends(1, 0, Some((5, false))), None);
        assert_eq!(detours.sends(1, 2, Some((7, true))), Some(3));
        assert_eq!([detours.sends(1, 0, None), detours.sends(1, 2, None)], [None, Some(3)]);
        // the next head on this VC continues with a detour that began elsewhere
        assert_eq!(detours.sends(1, 2, Some((7, true))), None);
        // a head whose detour is reported when it leaves
        assert_eq!(detours.sends(0, 1, Some((9, true))), None);
        detours.leaves(0, 1, 2);
        assert_eq!(detours.sends(0, 1, None), Some(2));
        // a packet that was discarded before it left; its number goes to another one
        detours.begins(6, 1);
        detours.comes(6);
        assert_eq!(detours.sends(3, 0, Some((6, true))), None);
    }

    #[test]
    fn a_detour_counts_as_it_is_chosen_only_if_no_flit_leaves_later() {
        let hop = |direct, leaves_on| Detour { now: 0, over: 1, direct, packet: 7, leaves_on };
        let mut long = Detours::of(4, false);
        assert_eq!(long.chooses(&hop(None, None)), None);
        // the head waits: its flits count when they leave
        assert_eq!(long.chooses(&hop(Some(3), None)), None);
        assert_eq!([long.sends(1, 2, Some((7, true))), long.sends(1, 2, None)], [Some(3); 2]);
        // its head leaves in this step, and the engine has reported it before
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
