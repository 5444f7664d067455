//! The flits and the energy of each channel, for the tables that recordings write at the end of a run.

use crate::network::spec::Spec;
use crate::run::outcome::ChannelCount;
use weft_api::recording::{ChannelUse, ChannelUses};
use weft_api::state::LinkState;

/// The energy accounts of all channels over the window.
#[derive(Debug)]
pub(super) struct Accounts<'a> {
    pub spec: &'a Spec,
    pub channels: &'a [ChannelCount],
}

impl ChannelUses for Accounts<'_> {
    fn of(&self, row: usize) -> ChannelUse {
        let (count, flits) = (&self.channels[row], self.channels[row].flits.iter().sum());
        let prices = &self.spec.prices[usize::from(count.class)];
        // every state that occurs has a price, because the pricing of channels refuses a state without a price
        let flit_yj = |state: LinkState| prices.of(state).map_or(0, |price| price.flit_yj);
        let router = self.spec.router_price.filter(|_| count.from.is_some()).map_or(0, |price| price.flit_yj);
        ChannelUse {
            flits,
            link_yj: count.flits.by_state().map(|(state, flits)| u128::from(flits) * flit_yj(state)).sum(),
            router_yj: u128::from(flits) * router,
        }
    }
}
