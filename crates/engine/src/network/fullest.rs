//! How full the fullest channel of a network is: found by following its paths (`explain`), kept in outcomes (`run`).

/// The channel that is offered most of what it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fullest {
    /// Flits that it is offered on average, as a share of its rate: at 1 the network can accept no more.
    pub share: f64,
    /// What it carries [flits/cycle].
    pub rate: f64,
    /// The buffers that let it carry less than its link does; `None` where the link itself is full.
    pub buffers: Option<Buffers>,
}

/// Buffers of a VC class on the links of a class: each place is used once in the round trip of a credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Number of the link class.
    pub class: usize,
    /// Flits per VC with which the VCs of this VC class carry all that the link does.
    pub needed: u64,
}
