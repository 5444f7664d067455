//! Control packets: single flits by which the agents of a policy communicate. The engine transports, counts and records control packets.
//! Only the policy interprets the content of control packets.

use crate::base::kept::Value;

/// Content of a control packet, encoded by its policy. If several packets reach a port in the same cycle, the agents receive them in
/// ascending order of their contents.
pub type Body = u128;

/// The content and the path length of a control packet, which a power policy sends from one router to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Frame {
    pub body: Body,
    /// Number of links that the control packet has crossed.
    pub hops: u8,
    /// Number of the frame among the control packets sent from its block; `None` if no recording needs it.
    pub number: Option<u32>,
}

/// The channel on which a frame arrived: the link, the side channel of the link, or none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Wire {
    /// The control packet crossed the link, in place of a flit.
    #[default]
    Link,
    /// The side channel of the link, which also carries credits. A frame on the side channel is a message about the
    /// link itself.
    SideChannel,
    /// No link carried the frame: the engine stored it for a later try, or delivered it directly to its router.
    None,
}

/// A frame that has arrived at input number `port` of its block. If no link carried the frame, it arrived at the router of that port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Arrival {
    pub port: u32,
    pub wire: Wire,
    pub frame: Frame,
}

/// A kind of control packet: its number among the kinds of its policy, and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct ControlKind {
    pub number: u8,
    pub name: &'static str,
}

impl ControlKind {
    /// Kind number `number` of a policy whose kinds have these names.
    pub fn of(names: &[&'static str], number: usize) -> Self {
        Self { number: number as u8, name: names[number] }
    }
}

/// Counts of control packets in the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct ControlCount {
    /// Number of control packets sent in the window, by kind.
    pub packets: Vec<u64>,
    /// Names of the kinds of control packets, in the order of `packets`.
    pub kinds: Vec<&'static str>,
    /// Number of links that the control packets crossed. The flit counts of channels include these crossings, one flit for each.
    pub flit_hops: u64,
}

impl ControlCount {
    pub fn new(kinds: &[&'static str]) -> Self {
        Self { packets: vec![0; kinds.len()], kinds: kinds.to_vec(), flit_hops: 0 }
    }

    /// Number of control packets of the kind with this name.
    pub fn of(&self, kind: &str) -> u64 {
        self.kinds.iter().zip(&self.packets).filter(|(name, _)| **name == kind).map(|(_, &count)| count).sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.packets.iter_mut().zip(&other.packets).for_each(|(sum, n)| *sum += n);
        self.flit_hops += other.flit_hops;
    }
}

/// A control packet that a router sent, as recordings receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct ControlPacket {
    pub cycle: u64,
    /// Number of the sending router, then number of the receiving router.
    pub from: u32,
    pub to: u32,
    pub kind: ControlKind,
    /// The router at the far end of the link that the packet is about; `None` if that link connects the sender and the receiver.
    pub about: Option<u32>,
    /// For a request, the number [flits] by which the receiver compares it with other requests; `None` if the packet is not a request.
    pub value: Option<u32>,
    /// A further bit of information; its meaning depends on the kind of the packet.
    pub flag: bool,
    /// Class of the links that the packet crosses.
    pub class: u8,
    /// The cycle in which the packet arrived, and the number of links that it crossed. `None` if the packet was still in flight at the end
    /// of the run, or if its receiver had failed.
    pub arrival: Option<(u64, u8)>,
}
