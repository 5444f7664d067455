//! Utilisation of the most heavily used channel of a network. `explain` computes it by following paths, and outcomes (`run`) store it.

/// The channel with the highest ratio of offered load to capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// Mean offered load of the channel as a share of its rate; above 1 the network cannot accept all flits. The capacity that the share is
    /// computed with is an upper bound, because packets that wait for other channels also occupy slots in this channel's buffer.
    pub share: f64,
    /// Rate of the channel [flits/cycle].
    pub rate: f64,
    /// Buffers that limit the load more strictly than the bandwidth of any link. The buffers of this channel come first in the list. Each
    /// link class occurs only once in the list. The list is empty if the bandwidth of a link is the strictest limit.
    pub buffers: Vec<Buffers>,
}

/// Buffers that limit the load: those of one VC class on the links of one link class. The limit exists because each buffer slot is used at
/// most once per credit round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Index of the link class.
    pub class: usize,
    /// Smallest buffer size [flits per VC] with which the VCs of this VC class reach the bandwidth of the link.
    pub needed: u64,
}
