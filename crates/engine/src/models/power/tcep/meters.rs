//! Traffic meters of the links of a router: flits that came, and of both directions those that do not go minimally in the
//! subnetwork that they cross; control flits are counted among these. What was sent in all is `OutPort::flits`.
//!
//! Packets of one flit are counted as they choose a detour, so that minimal ones cost nothing. Longer ones are counted flit
//! by flit: body flits follow their head, whose packet may be far ahead, and a bit per VC says of which kind it was.

use crate::base::unchecked::Hot;

/// The meter of one port: its output and its input, which are the two channels of one link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    pub sent_around: u32,
    pub came: u32,
    pub came_around: u32,
    /// VCs on which the present packet goes round.
    out_around: u16,
    in_around: u16,
}

#[derive(Debug, Clone)]
pub(crate) struct Meters(Vec<Meter>);

impl Meters {
    pub fn new(ports: usize) -> Self {
        Self(vec![Meter::default(); ports])
    }

    /// Of the port with this number.
    pub fn of(&self, port: usize) -> Meter {
        self.0[port]
    }

    /// A flit of a long packet leaves on VC `vc`; heads say whether they go round.
    pub fn sent(&mut self, port: usize, vc: usize, around: Option<bool>) {
        let meter = &mut self.0[port];
        meter.sent_around += u32::from(goes_around(&mut meter.out_around, vc, around));
    }

    /// A packet of one flit goes round over this port, or a control flit leaves.
    pub fn sent_one_around(&mut self, port: usize) {
        self.0.hot_mut(port).sent_around += 1;
    }

    /// A packet of one flit that was to go round over this port does not. Returns the flits that do.
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

/// Whether the packet of this flit goes round: its head says so, `vcs` remembers it for the flits that follow.
fn goes_around(vcs: &mut u16, vc: usize, around: Option<bool>) -> bool {
    if let Some(around) = around {
        *vcs = *vcs & !(1 << vc) | u16::from(around) << vc;
    }
    *vcs >> vc & 1 != 0
}
