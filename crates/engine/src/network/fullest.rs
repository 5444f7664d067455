//! How full the fullest channel of a network is: found by following its paths (`explain`), kept in outcomes (`run`).

/// The channel with the highest offer for its capacity.
#[derive(Debug, Clone, PartialEq)]
pub struct Fullest {
    /// Flits that it is offered on average, as a share of its rate: above 1 the network can't accept all. An upper bound, since
    /// packets that wait for other channels keep the places of this one.
    pub share: f64,
    /// Its flits per cycle [flits/cycle].
    pub rate: f64,
    /// The buffers with which channels are fuller than any link is by its bandwidth, those of the fullest channel first. Each link
    /// class is there once. Empty where a link itself is the fullest.
    pub buffers: Vec<Buffers>,
}

/// Buffers of a VC class on the links of a class: each place is used once in the round trip of a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Number of the link class.
    pub class: usize,
    /// Flits per VC with which the VCs of this VC class carry all that the link does.
    pub needed: u64,
}
