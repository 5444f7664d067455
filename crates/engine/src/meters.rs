//! Traffic meters of the links of a router: flits that came, and of both directions those that go minimally in the
//! subnetwork that they cross. What was sent in all is `OutPort::flits`.
//!
//! Body flits follow their head, whose packet may be far ahead: a bit per VC says of which kind it was.

use crate::hot::Hot;

/// The meter of one port: its output and its input, which are the two channels of one link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meter {
    pub sent_minimal: u32,
    pub came: u32,
    pub came_minimal: u32,
    /// VCs on which the present packet goes minimally.
    out_minimal: u16,
    in_minimal: u16,
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

    /// A flit leaves on VC `vc`; `minimal` is said by heads.
    #[inline(always)]
    pub fn sent(&mut self, port: usize, vc: usize, minimal: Option<bool>) {
        let meter = self.0.hot_mut(port);
        if let Some(minimal) = minimal {
            meter.out_minimal = meter.out_minimal & !(1 << vc) | u16::from(minimal) << vc;
        }
        meter.sent_minimal += u32::from(meter.out_minimal >> vc & 1);
    }

    /// A flit has come on VC `vc`.
    #[inline(always)]
    pub fn came(&mut self, port: usize, vc: usize, minimal: Option<bool>) {
        let meter = self.0.hot_mut(port);
        if let Some(minimal) = minimal {
            meter.in_minimal = meter.in_minimal & !(1 << vc) | u16::from(minimal) << vc;
        }
        meter.came += 1;
        meter.came_minimal += u32::from(meter.in_minimal >> vc & 1);
    }

    /// A control flit has come: no packet's.
    pub fn control_came(&mut self, port: usize) {
        self.0[port].came += 1;
    }
}
