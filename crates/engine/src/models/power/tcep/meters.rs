//! Traffic meters of the links of a router. They count the flits that came, and in both directions the flits on a
//! detour in the subnetwork that they cross; control flits count among these. `OutputUnit::flits` counts all flits sent.
//!
//! Packets of one flit are counted as they choose a detour, so that minimal ones cost nothing. Longer packets are
//! counted flit by flit: the head may be far ahead of its body flits, so a bit per VC says whether the present packet
//! is on a detour.

use crate::base::unchecked::Hot;

/// The meter of one port: its output and its input, which are the two channels of one link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    pub sent_around: u32,
    pub came: u32,
    pub came_around: u32,
    /// VCs on which the present packet is on a detour.
    out_around: u16,
    in_around: u16,
}

#[derive(Debug, Clone)]
pub(crate) struct Meters(Vec<Meter>);

impl Meters {
    pub fn new(ports: usize) -> Self {
        Self(vec![Meter::default(); ports])
    }

    /// The meter of port number `port`.
    pub fn of(&self, port: usize) -> Meter {
        self.0[port]
    }

    /// A flit of a long packet leaves on VC `vc`; a head says whether its packet is on a detour.
    pub fn sent(&mut self, port: usize, vc: usize, around: Option<bool>) {
        let meter = &mut self.0[port];
        meter.sent_around += u32::from(goes_around(&mut meter.out_around, vc, around));
    }

    /// A packet of one flit chooses a detour over this port, or a control flit leaves.
    pub fn sent_one_around(&mut self, port: usize) {
        self.0.hot_mut(port).sent_around += 1;
    }

    /// A packet of one flit that had chosen a detour over this port takes another path. Returns the flits that are
    /// left.
    pub fn not_around(&mut self, port: usize) -> u32 {
        let meter = &mut self.0[port];
        meter.sent_around = meter.sent_around.wrapping_sub(1);
        meter.sent_around
    }

    /// A packet of one flit has come.
    #[inline(always)]
    pub fn came_one(&mut self, port: usize, around: bool) {
        let meter = self.0.hot_mut(port);
        meter.came += 1;
        meter.came_around += u32::from(around);
    }

    /// A flit of a long packet has come on VC `vc`.
    pub fn came(&mut self, port: usize, vc: usize, around: Option<bool>) {
        let meter = &mut self.0[port];
        meter.came += 1;
        meter.came_around += u32::from(goes_around(&mut meter.in_around, vc, around));
    }
}

/// Whether the packet of this flit is on a detour: its head says so, and `vcs` remembers it for the flits that follow.
fn goes_around(vcs: &mut u16, vc: usize, around: Option<bool>) -> bool {
    if let Some(around) = around {
        *vcs = *vcs & !(1 << vc) | u16::from(around) << vc;
    }
    *vcs >> vc & 1 != 0
}
