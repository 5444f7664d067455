//! Which direct link each packet of several flits leaves out that leaves a router on a detour. Its head decides, its flits
//! count: a worm of 5,000 flits may go on for several epochs.

use crate::base::kept::Kept;

/// Marks of VCs: one per output and VC.
const VCS: usize = 16;

#[derive(Debug, Clone, Kept)]
pub(in crate::models::power) struct Detours {
    /// By number of the packet: the output of the direct link that its head, which has not left yet, leaves out, plus 1;
    /// 0: none.
    waiting: Vec<u32>,
    /// The same for the packet that is leaving on each VC of each output.
    #[kept(each)]
    leaving: Vec<u32>,
}

impl Detours {
    /// For so many outputs; none are needed if all packets have one flit.
    pub fn new(ports: usize) -> Self {
        Self { waiting: Vec::new(), leaving: vec![0; ports * VCS] }
    }

    /// A head has come, with a number that another packet may have had before.
    pub fn comes(&mut self, packet: u32) {
        if let Some(direct) = self.waiting.get_mut(packet as usize) {
            *direct = 0;
        }
    }

    /// A head that waits begins a detour here, and leaves out the direct link of output `direct`.
    pub fn begins(&mut self, packet: u32, direct: usize) {
        let packet = packet as usize;
        if self.waiting.len() <= packet {
            self.waiting.resize(packet + 1, 0);
        }
        self.waiting[packet] = direct as u32 + 1;
    }

    /// The packet whose head leaves on VC `vc` of output `over` begins a detour here.
    pub fn leaves(&mut self, over: usize, vc: usize, direct: usize) {
        self.leaving[over * VCS + vc] = direct as u32 + 1;
    }

    /// A flit leaves on VC `vc` of output `over`; `head`: the number of its packet if it is a head, and whether this is on a
    /// detour. Returns the output of the direct link that it leaves out.
    pub fn sends(&mut self, over: usize, vc: usize, head: Option<(u32, bool)>) -> Option<usize> {
        let leaving = &mut self.leaving[over * VCS + vc];
        if let Some((packet, around)) = head {
            let waiting = self.waiting.get_mut(packet as usize).map_or(0, std::mem::take);
            *leaving = if around { waiting } else { 0 };
        }
        leaving.checked_sub(1).map(|direct| direct as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Detours;

    #[test]
    fn every_flit_of_a_packet_counts_for_the_link_that_its_head_leaves_out() {
        let mut detours = Detours::new(4);
        detours.begins(7, 3);
        // another packet on another VC of the same output, which goes directly
        assert_eq!(detours.sends(1, 0, Some((5, false))), None);
        assert_eq!(detours.sends(1, 2, Some((7, true))), Some(3));
        assert_eq!([detours.sends(1, 0, None), detours.sends(1, 2, None)], [None, Some(3)]);
        // the next head on this VC goes on with a detour that began elsewhere
        assert_eq!(detours.sends(1, 2, Some((7, true))), None);
        // a head that tells of its detour as it leaves
        assert_eq!(detours.sends(0, 1, Some((9, true))), None);
        detours.leaves(0, 1, 2);
        assert_eq!(detours.sends(0, 1, None), Some(2));
        // a packet that was discarded before it left; its number goes to another one
        detours.begins(6, 1);
        detours.comes(6);
        assert_eq!(detours.sends(3, 0, Some((6, true))), None);
    }
}
