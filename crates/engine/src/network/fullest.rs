//! How full the fullest channel of a network is: found by following its paths (`explain`), kept in outcomes (`run`).

/// The channel that is offered most of what it can carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fullest {
    /// Flits that it is offered on average, as a share of its rate: at 1 the network can accept no more.
    pub share: f64,
    /// What it carries [flits/cycle].
    pub rate: f64,
}
