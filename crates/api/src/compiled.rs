//! A built routing in the form that the cycle loop calls, with one virtual call per hop. The called code is compiled for this routing and
//! for one number of VCs per port, so it makes no other virtual call.

use super::routing::{AnyRouting, Hop, Routing};
use super::view::{Queues, View};
use crate::state::{Packet, UNDECIDED, key_of};
use std::fmt::Debug;
use std::sync::Arc;

/// A shared routing that can become a trait object. (The cycle loop calls a `Box` of this type. This takes fewer instructions than a call
/// of an `Arc<dyn ...>`, which must first compute the address of its value.)
#[derive(Debug)]
pub struct Compiled<R>(pub Arc<R>);

/// Route computation one hop ahead: before the packet has reached the router at which it takes the hop.
pub trait Ahead: Debug + Send + Sync {
    /// Route key of the hop that the routing's `next` returns at router number `router` with coordinates `at`; [`UNDECIDED`] if `next`
    /// returns none.
    fn key_ahead(&self, router: u32, at: u64, packet: &mut Packet, seed: u64, class_bits: u32) -> u16;
}

impl<R: Routing> Ahead for Compiled<R> {
    fn key_ahead(&self, _router: u32, at: u64, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        let key = |hop: Hop| key_of(hop.port.into(), hop.class.into(), class_bits);
        self.0.next(at, packet, seed).map_or(UNDECIDED, key)
    }
}

/// The router at which the routing chooses a hop for a head: its number, its coordinates and its queues.
#[derive(Debug)]
pub struct Here<'a, Q: ?Sized> {
    pub router: u32,
    pub at: u64,
    pub queues: &'a Q,
}

/// Route computation for packets that are the head of their VC, compiled for ports of `V` VCs.
pub trait HeadRouting<const V: usize>: Debug + Send + Sync {
    /// The route key of the hop that `at_head` of the routing returns.
    fn key_at_head(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, seed: u64, class_bits: u32) -> u16;
    fn each_step(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, turn: u32) -> Option<Hop>;
    fn candidates(&self, at: u64, packet: &Packet) -> u128;
    /// Writes the numbers that the router at `at` posts on the board.
    fn post(&self, at: u64, here: &Queues<'_, V>, sent: &dyn Fn() -> u32, numbers: &mut [u32]);
    /// Returns the same hop as `at_head`, for a watched packet. This method is slower, because `here` records the values that the routing
    /// compares.
    fn at_head_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, seed: u64) -> Hop;
    fn each_step_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, turn: u32) -> Option<Hop>;
}

impl<R: Routing, const V: usize> HeadRouting<V> for Compiled<R> {
    fn key_at_head(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        let hop = self.0.at_head(here.at, here.queues, packet, seed);
        key_of(hop.port.into(), hop.class.into(), class_bits)
    }

    fn each_step(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, turn: u32) -> Option<Hop> {
        self.0.each_step(here.at, here.queues, packet, turn)
    }

    fn candidates(&self, at: u64, packet: &Packet) -> u128 {
        self.0.candidates(at, packet)
    }

    fn post(&self, at: u64, here: &Queues<'_, V>, sent: &dyn Fn() -> u32, numbers: &mut [u32]) {
        self.0.post(at, here, sent, numbers);
    }

    fn at_head_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, seed: u64) -> Hop {
        self.0.at_head(here.at, here.queues, packet, seed)
    }

    fn each_step_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, turn: u32) -> Option<Hop> {
        self.0.each_step(here.at, here.queues, packet, turn)
    }
}

/// Makes the form of a routing that is compiled for ports of `V` VCs.
pub trait ForPorts<const V: usize> {
    fn compiled(routing: &Arc<dyn AnyRouting>) -> Box<dyn HeadRouting<V>>;
}

/// The numbers of VCs per port for which the cycle loop is compiled.
#[derive(Debug)]
pub struct Widths;

impl ForPorts<8> for Widths {
    fn compiled(routing: &Arc<dyn AnyRouting>) -> Box<dyn HeadRouting<8>> {
        routing.clone().narrow()
    }
}

impl ForPorts<16> for Widths {
    fn compiled(routing: &Arc<dyn AnyRouting>) -> Box<dyn HeadRouting<16>> {
        routing.clone().wide()
    }
}
