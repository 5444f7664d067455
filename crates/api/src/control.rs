//! Control packets: single flits by which the agents of a policy communicate. The engine transports, counts and records control packets.
//! Only the policy interprets the content of control packets.

use crate::base::kept::Value;

/// Content of a control packet, encoded by its policy. Packets that reach a port in the same cycle are received in ascending order of these
/// numbers.
pub type Body = u128;

/// A control packet, which a power policy sends from one router to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Frame {
    pub body: Body,
    /// Number of links that the packet has crossed.
    pub hops: u8,
    /// Number of the frame among the control packets sent from the same block, if a recording receives them.
    pub number: Option<u32>,
}

/// The channel on which a frame arrived, if any: the link, or the side channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Wire {
    /// The control packet uses the link, in place of a flit.
    #[default]
    Link,
    /// The side channel of the link, which also carries credits. The frame is a message about the link itself.
    SideChannel,
    /// No link carried the frame: it was stored for another try, or delivered directly to its router.
    None,
}

/// A frame that has arrived at input `port` of its block. Without a link, the frame has arrived at the router of that port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Arrival {
    pub port: u32,
    pub wire: Wire,
    pub frame: Frame,
}

/// A kind of control packets: its number among the kinds of its policy, and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct ControlKind {
    pub number: u8,
    pub name: &'static str,
}

impl ControlKind {
    /// ChannelEnd number `number` of a policy whose kinds have these names.
    pub fn of(names: &[&'static str], number: usize) -> Self {
        Self { number: number as u8, name: names[number] }
    }
}

/// Counts of control packets in the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct ControlCount {
    /// Number of packets sent of each kind.
    pub packets: Vec<u64>,
    /// Names of the kinds of control packets, in the order of `packets`.
    pub kinds: Vec<&'static str>,
    /// Number of links that the control packets crossed. The flit counts of channels include one flit for each of these crossings.
    pub flit_hops: u64,
}

impl ControlCount {
    pub fn new(kinds: &[&'static str]) -> Self {
        Self { packets: vec![0; kinds.len()], kinds: kinds.to_vec(), flit_hops: 0 }
    }

    /// Number of packets of a kind.
    pub fn of(&self, kind: &str) -> u64 {
        self.kinds.iter().zip(&self.packets).filter(|(name, _)| **name == kind).map(|(_, &count)| count).sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.packets.iter_mut().zip(&other.packets).for_each(|(sum, n)| *sum += n);
        self.flit_hops += other.flit_hops;
    }
}

/// A control packet that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct ControlPacket {
    pub cycle: u64,
    /// The sending and the receiving router.
    pub from: u32,
    pub to: u32,
    pub kind: ControlKind,
    /// The router at the far end of the link that the packet is about; `None` if this link connects sender and receiver.
    pub about: Option<u32>,
    /// The number by which the receiver compares requests \[flits\]; `None` if the packet requests nothing.
    pub value: Option<u32>,
    /// Further information; its meaning depends on the kind.
    pub flag: bool,
    /// Class of the links on its path.
    pub class: u8,
    /// The cycle of its arrival, and the number of links it crossed. `None` if the packet was in flight when the run ended, or if its
    /// receiver had failed.
    pub arrival: Option<(u64, u8)>,
}
