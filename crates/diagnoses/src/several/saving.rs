//! Computes the power that a policy saves for equal work, and the part of a difference in power that random variation
//! explains.
//!
//! Two runs of the same traffic deliver slightly different loads by chance, and the energy of flits grows with the load. Therefore the
//! power of the reference is scaled to the work of the policy. The static part of this power does not change, and the rest grows with the
//! accepted load.

use crate::backlog::CHANCE;

/// Standard deviation of a packet's energy, as a share of the mean energy. The reason for this value: the energy grows with the number of
/// hops of a packet, which is between zero and twice the mean.
const OF_A_PACKET: f64 = 0.5;

/// The measured power of one of the two compared points, with its accepted load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Mean power \[W\].
    pub mean_w: f64,
    /// The static part of the mean power, which does not grow with the work \[W\].
    pub static_w: f64,
    /// Accepted load \[flits/terminal/cycle\].
    pub accepted: f64,
    /// Number of measured packets in all runs of the point together.
    pub packets: f64,
}

impl Power {
    /// The mean power that this point would have with the accepted load `accepted` \[W\].
    pub fn at_w(self, accepted: f64) -> f64 {
        self.static_w + (self.mean_w - self.static_w) * accepted / self.accepted
    }

    /// The largest difference in power between the two points that random variation can explain for the same flits \[W\]: three standard
    /// deviations.
    pub fn chance_w(self, other: Self) -> f64 {
        if self.packets == 0.0 || other.packets == 0.0 {
            return 0.0;
        }
        let of_flits = (self.mean_w - self.static_w).max(other.mean_w - other.static_w);
        CHANCE * OF_A_PACKET * of_flits * (1.0 / self.packets + 1.0 / other.packets).sqrt()
    }

    /// The power that this point saves compared to a reference with the same work \[W\]; 0 if random variation explains the difference.
    pub fn saved_w(self, reference: Self) -> f64 {
        let saved = reference.at_w(self.accepted) - self.mean_w;
        if saved.abs() <= self.chance_w(reference) { 0.0 } else { saved }
    }
}
