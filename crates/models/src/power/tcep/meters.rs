//! The traffic meters of links, from which TCEP computes utilisations. For each link of a router, a meter counts all flits that arrive. In
//! both directions, it also counts separately the flits that are on a detour within the subnetwork of the link. Control flits count as
//! flits on a detour. The meters need not count all flits that leave, because `OutputUnit::flits` does.
//!
//! If all packets have one flit, a packet is counted when it chooses a detour, so that minimal packets cause no work. The flits of longer
//! packets are counted one by one. Because the head can be far ahead of its body flits, a bit per VC stores whether the present packet is
//! on a detour.

use super::Direction;
use crate::power::detours::VcsAround;
use weft_api::base::kept::Kept;

/// Numbers of flits on a link: values of the counters in a cycle, or their growth between two cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Kept)]
pub(super) struct Counts {
    pub sent: u32,
    /// Of the sent flits, the number of those that were on a detour.
    pub sent_around: u32,
    pub came: u32,
    pub came_around: u32,
}

impl Counts {
    /// Growth of the counters since they had the values `before`. The counters are 32 bits wide and may have wrapped around.
    pub fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent.wrapping_sub(before.sent),
            sent_around: self.sent_around.wrapping_sub(before.sent_around),
            came: self.came.wrapping_sub(before.came),
            came_around: self.came_around.wrapping_sub(before.came_around),
        }
    }

    /// Number of flits in the direction that counts, and how many of them were on minimal paths. The second number is a difference, limited
    /// to 0 or more. A packet of one flit counts as on a detour shortly before it counts as sent.
    pub fn load(self, direction: Direction) -> (u32, u32) {
        let minimal = |all: u32, around: u32| all.saturating_sub(around);
        let (sent, came) = (minimal(self.sent, self.sent_around), minimal(self.came, self.came_around));
        match direction {
            Direction::Larger => (self.sent.max(self.came), sent.max(came)),
            Direction::Outgoing => (self.sent, sent),
        }
    }
}

/// The meter of a port. The port has an output and an input: the two channels of one link.
#[derive(Debug, Clone, Copy, Default, Kept)]
struct Meter {
    sent_around: u32,
    came: u32,
    came_around: u32,
    out_around: VcsAround,
    in_around: VcsAround,
}

#[derive(Debug, Clone, Kept)]
pub(super) struct Meters(#[kept(each)] Vec<Meter>);

impl Meters {
    pub fn new(ports: usize) -> Self {
        Self(vec![Meter::default(); ports])
    }

    /// All counters of the link at port `port`. `sent`: number of flits that the port has sent so far.
    pub fn counts(&self, port: usize, sent: u32) -> Counts {
        let Meter { sent_around, came, came_around, .. } = self.0[port];
        Counts { sent, sent_around, came, came_around }
    }

    /// Counts a flit of a long packet that leaves on VC `vc`. `around`: if the flit is a head, true if its packet is on a detour.
    pub fn sent(&mut self, port: usize, vc: usize, around: Option<bool>) {
        let meter = &mut self.0[port];
        meter.sent_around += u32::from(meter.out_around.flit(vc, around));
    }

    /// Counts a packet of one flit that chooses a detour over this port, or a control flit that leaves by this port.
    pub fn sent_one_around(&mut self, port: usize) {
        self.0[port].sent_around += 1;
    }

    /// Subtracts a packet of one flit that had chosen a detour over this port, but then takes another path. Returns the new count of sent
    /// flits on detours.
    pub fn not_around(&mut self, port: usize) -> u32 {
        let meter = &mut self.0[port];
        meter.sent_around = meter.sent_around.wrapping_sub(1);
        meter.sent_around
    }

    /// Counts packets of one flit that have arrived. `packets`: the port of each packet, and true if the packet is on a detour.
    #[inline(always)]
    pub fn came_single(&mut self, packets: impl Iterator<Item = (usize, bool)>) {
        let meters = &mut self.0[..];
        for (port, around) in packets {
            let meter = &mut meters[port];
            meter.came += 1;
            meter.came_around += u32::from(around);
        }
    }

    /// Counts a flit of a long packet that has arrived on VC `vc`. `around`: if the flit is a head, true if its packet is on a detour.
    pub fn came(&mut self, port: usize, vc: usize, around: Option<bool>) {
        let meter = &mut self.0[port];
        meter.came += 1;
        meter.came_around += u32::from(meter.in_around.flit(vc, around));
    }
}
