//! Control packets: single flits by which the agents of a policy communicate. The engine carries, counts and records
//! them. Only the policy knows their meaning.

use crate::base::kept::Value;

/// Content of a control packet, as its policy writes it. Packets that reach a port in the same cycle are received in the order
/// of these numbers.
pub type Body = u128;

/// A control packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Frame {
    pub body: Body,
    /// Links that it has crossed.
    pub hops: u8,
    /// Its number among the control packets of its sender's block, if a recording receives them.
    pub number: Option<u32>,
}

/// The channel on which a frame arrived: the link, or the side channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Wire {
    /// The control packet takes the place of a flit on the link.
    #[default]
    Link,
    /// The side channel of the link, which also carries credits, carried a message about the link itself.
    SideChannel,
    /// No link carried the frame: it was kept for another try, or delivered to its router directly.
    None,
}

/// A frame that has arrived at input `port` of its block; or, without a link, at the router of that port.
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

/// Control packets over the window.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct ControlCount {
    /// Packets sent of each kind.
    pub packets: Vec<u64>,
    /// Names of the kinds.
    pub kinds: Vec<&'static str>,
    /// Links that they crossed. This number of flits in the counts of channels were control packets.
    pub flit_hops: u64,
}

impl ControlCount {
    pub fn new(kinds: &[&'static str]) -> Self {
        Self { packets: vec![0; kinds.len()], kinds: kinds.to_vec(), flit_hops: 0 }
    }

    /// Packets of a kind.
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
    /// Routers.
    pub from: u32,
    pub to: u32,
    pub kind: ControlKind,
    /// The router at the far end of the link that it is about; `None` if that is the link between sender and receiver.
    pub about: Option<u32>,
    /// The number by which its receiver compares requests \[flits\]; `None` if it requests nothing.
    pub value: Option<u32>,
    /// Another fact; its meaning depends on the kind.
    pub flag: bool,
    /// Class of the links on its path.
    pub class: u8,
    /// The cycle of its arrival, and the number of links it crossed. `None` if it was in flight when the run ended, or
    /// if its receiver had failed.
    pub arrival: Option<(u64, u8)>,
}
