//! The protocols with which a policy switches channels off. What a policy offers ([`Offers`]) determines which protocol is safe:
//!
//! - [`CloseFirst`] is for policies under which packets wait for links that are off. Under this protocol, the policy first closes the
//!   channel. The packets that hold a VC of the channel continue. When their flits have left, the channel goes off. Heads that request the
//!   closed channel wait, so the policy has to switch the channel on again.
//! - [`DrainFirst`] is for policies under which routings avoid links that are off. Under this protocol, the policy first makes routings
//!   avoid the channel. The channel stays open for packets that have already chosen it. When these packets have left and all credits have
//!   returned, the policy closes the channel and switches it off. Therefore no head ever waits for a channel that is off.
//! - [`CloseBeside`] is for policies that keep one link of each trunk open. Under this protocol, the policy closes another link of the
//!   trunk, and heads choose an open link instead. The closed link goes off when all packets that hold its VCs have left and all its
//!   credits have returned.
//!
//! Under a wrong protocol, a packet could wait forever, or a routing could send packets to a link that goes off before they arrive.
//! Therefore a policy creates its protocol from its [`Offers`] as a constant, and a policy with the wrong protocol does not compile.

use crate::agents::{Channels, Network};
use crate::policy::{LinkKnowledge, Offers};

/// The protocol "close first", for policies whose packets wait for links that are off.
#[derive(Debug, Clone, Copy)]
pub struct CloseFirst(());

impl CloseFirst {
    /// Creates this protocol for a policy with these offers. If packets do not wait for links under the policy, this function panics at
    /// compile time.
    pub const fn of(offers: &Offers) -> Self {
        assert!(
            offers.packets_wait_for_links,
            "packets do not wait for the links of this policy: use DrainFirst, or offer packets_wait_for_links"
        );
        Self(())
    }

    /// Closes the channel: after this call, heads that request it wait. Packets that hold a VC of the channel continue; when they have
    /// left, the engine calls `drained` of the agents.
    pub fn close(self, channels: &mut dyn Channels, channel: usize) {
        channels.close(channel);
    }

    /// Number of cycles until all flits that were granted the channel are on the link; 0 if all are already.
    pub fn flits_leave_in(self, channels: &dyn Channels, channel: usize) -> u64 {
        u64::from(channels.free_for(channel).min(0).unsigned_abs())
    }

    /// Opens the channel again; heads that already wait for it get its VCs first.
    pub fn open(self, channels: &mut dyn Channels, channel: usize) {
        channels.open(channel);
        channels.look_again(channel);
    }
}

/// The protocol "drain first", for policies under which routings avoid links that are off.
#[derive(Debug, Clone, Copy)]
pub struct DrainFirst(());

impl DrainFirst {
    /// Creates this protocol for a policy with these offers. This function panics at compile time if packets wait for links under the
    /// policy, or if routings get no information about links.
    pub const fn of(offers: &Offers) -> Self {
        assert!(!offers.packets_wait_for_links, "packets wait for the links of this policy: use CloseFirst");
        assert!(
            !matches!(offers.links, LinkKnowledge::Nothing),
            "no routing avoids the links of this policy: offer some knowledge of links, or use CloseFirst"
        );
        Self(())
    }

    /// Whether the channel is idle: no head requests it, no packet holds it, and its buffer at the far end is empty.
    pub fn is_drained<G: Gates + ?Sized>(self, gates: &G, channel: G::Number) -> bool {
        self.is_unused(gates, channel) && gates.credits_are_home(channel)
    }

    /// Whether no head requests the channel and no packet holds one of its VCs. Flits can still be in flight on the
    /// channel.
    pub fn is_unused<G: Gates + ?Sized>(self, gates: &G, channel: G::Number) -> bool {
        !gates.is_wanted(channel) && !gates.is_held(channel)
    }

    /// Closes a channel that has drained and will go off.
    pub fn close<G: Gates + ?Sized>(self, gates: &mut G, channel: G::Number) {
        debug_assert!(!gates.is_held(channel), "a channel must drain before it goes off");
        gates.close(channel);
    }

    /// Opens the channel; the policy calls this before it informs routings that the channel is on.
    pub fn open<G: Gates + ?Sized>(self, gates: &mut G, channel: G::Number) {
        gates.open(channel);
    }
}

/// The protocol "close beside", for policies that keep one link of each trunk open.
#[derive(Debug, Clone, Copy)]
pub struct CloseBeside(());

impl CloseBeside {
    /// Creates this protocol for a policy with these offers. If no link of a trunk stays open under the policy, this function panics at
    /// compile time.
    pub const fn of(offers: &Offers) -> Self {
        assert!(offers.always_carries, "no member stays open under this policy: use CloseFirst or DrainFirst");
        assert!(
            !offers.packets_wait_for_links,
            "the policy offers `packets_wait_for_links`, so CloseBeside does not fit: use CloseFirst"
        );
        Self(())
    }

    /// Closes the channel: heads that requested it choose an open link of the trunk instead. Packets that hold a VC of the channel
    /// continue.
    pub fn close(self, channels: &mut dyn Channels, channel: usize) {
        channels.close(channel);
        channels.look_again(channel);
    }

    /// Whether the channel is idle: no packet holds it, its last flit has left, and its buffer at the far end is empty.
    pub fn is_drained(self, channels: &dyn Channels, channel: usize) -> bool {
        !channels.is_held(channel) && channels.free_for(channel) >= 0 && channels.credits_are_home(channel)
    }

    /// Opens the channel: heads may take its VCs again.
    pub fn open(self, channels: &mut dyn Channels, channel: usize) {
        channels.open(channel);
        channels.look_again(channel);
    }
}

/// The functions that [`Channels`] (which agents call for channels of a block) and [`Network`] (which overseers call for all channels) have
/// in common.
pub trait Gates {
    /// Type of the numbers that identify channels.
    type Number: Copy;
    fn close(&mut self, channel: Self::Number);
    fn open(&mut self, channel: Self::Number);
    fn is_wanted(&self, channel: Self::Number) -> bool;
    fn is_held(&self, channel: Self::Number) -> bool;
    fn credits_are_home(&self, channel: Self::Number) -> bool;
}

macro_rules! gates {
    ($($seen:ident by $number:ty),+) => {
        $(
            impl Gates for dyn $seen + '_ {
                type Number = $number;
                fn close(&mut self, channel: $number) {
                    $seen::close(self, channel);
                }
                fn open(&mut self, channel: $number) {
                    $seen::open(self, channel);
                }
                fn is_wanted(&self, channel: $number) -> bool {
                    $seen::is_wanted(self, channel)
                }
                fn is_held(&self, channel: $number) -> bool {
                    $seen::is_held(self, channel)
                }
                fn credits_are_home(&self, channel: $number) -> bool {
                    $seen::credits_are_home(self, channel)
                }
            }
        )+
    };
}

gates!(Channels by usize, Network by u32);

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Offers = Offers { packets_wait_for_links: true, ..Offers::ALWAYS_ON };
    const AVOID: Offers = Offers { links: LinkKnowledge::Stages, ..Offers::ALWAYS_ON };
    const CARRY: Offers = Offers { always_carries: true, ..Offers::ALWAYS_ON };
    // the compiler creates all three protocols, so each accepts these offers
    const _: (CloseFirst, DrainFirst, CloseBeside) =
        (CloseFirst::of(&WAIT), DrainFirst::of(&AVOID), CloseBeside::of(&CARRY));

    #[test]
    #[should_panic(expected = "use DrainFirst")]
    fn links_that_routings_avoid_are_not_closed_first() {
        CloseFirst::of(&AVOID);
    }

    #[test]
    #[should_panic(expected = "use CloseFirst")]
    fn links_for_which_packets_wait_are_not_drained_first() {
        DrainFirst::of(&WAIT);
    }

    #[test]
    #[should_panic(expected = "no member stays open")]
    fn links_of_which_none_stays_open_are_not_closed_beside_others() {
        CloseBeside::of(&WAIT);
    }

    #[test]
    #[should_panic(expected = "offer some knowledge of links")]
    fn links_that_no_routing_knows_are_not_drained_first() {
        DrainFirst::of(&Offers::ALWAYS_ON);
    }
}
