//! Utilisation of the fullest channel of a network: computed by following paths (`explain`), kept in outcomes (`run`).

/// The channel with the highest offered load compared with its capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// Mean offered load as a share of its rate; above 1 the network cannot accept all flits. The capacity is an upper
    /// bound, because packets that wait for other channels occupy places of this one.
    pub share: f64,
    /// Its flits per cycle [flits/cycle].
    pub rate: f64,
    /// Buffers that limit channels more than the bandwidth of any link does, those of the fullest channel first. Each
    /// link class occurs once. Empty if the bandwidth of a link limits most.
    pub buffers: Vec<Buffers>,
}

/// Buffers of a VC class on the links of a class: each place is used once in the round trip of a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Number of the link class.
    pub class: usize,
    /// Flits per VC from which on the VCs of this VC class reach the bandwidth of the link.
    pub needed: u64,
}
