//! The view of the whole network that the overseer of a policy uses between two cycles, to read and change states.

use weft_api::agents::{Agents, Network, Published};
use weft_api::state::{Gate, LinkState};
use weft_api::subnetworks::Subnets;
use weft_kernel::face::AnyBlock;
use weft_kernel::net::Net;

pub(crate) struct Whole<'a> {
    pub net: &'a mut Net,
    pub blocks: &'a mut [Box<dyn AnyBlock>],
    /// For each channel: its block, and its index in that block.
    pub places: &'a [(u32, u32)],
    /// The data that the overseer published most recently.
    pub published: &'a mut Option<Published>,
}

impl Whole<'_> {
    /// The block of a channel, and the index of the channel in that block.
    fn place(&self, channel: u32) -> (usize, usize) {
        let (block, o) = self.places[channel as usize];
        (block as usize, o as usize)
    }
}

impl Network for Whole<'_> {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn agents(&mut self, block: usize) -> Option<&mut dyn Agents> {
        self.blocks[block].policy_mut().agents.as_deref_mut()
    }

    fn counts_of(&self, channel: u32, read: &dyn Fn(&dyn Agents, usize) -> [u32; 2]) -> [u32; 2] {
        let (block, o) = self.place(channel);
        self.blocks[block].policy().agents.as_deref().map_or([0; 2], |agents| read(agents, o))
    }

    fn know(&mut self, channel: u32, nets: &Subnets, d: usize, link: (u8, u8), active: bool) {
        let (block, o) = self.place(channel);
        let router = self.blocks[block].output(o).router as usize;
        self.blocks[block].views_mut().set(nets, router, d, link, active);
    }

    fn enter(&mut self, channel: u32, state: LinkState, now: u64) {
        let (block, o) = self.place(channel);
        self.blocks[block].change_state(self.net, o, state, now);
    }

    fn open(&mut self, channel: u32) {
        let (block, o) = self.place(channel);
        self.blocks[block].open_channel(o);
    }

    fn close(&mut self, channel: u32) {
        let (block, o) = self.place(channel);
        self.blocks[block].close_channel(self.net, o);
    }

    fn is_wanted(&self, channel: u32) -> bool {
        let (block, o) = self.place(channel);
        self.blocks[block].output(o).requested != 0
    }

    fn is_held(&self, channel: u32) -> bool {
        let (block, o) = self.place(channel);
        self.blocks[block].output(o).held != 0
    }

    fn credits_are_home(&self, channel: u32) -> bool {
        let (block, o) = self.place(channel);
        let out = self.blocks[block].output(o);
        self.net.links[usize::from(out.class)].are_home(out.credits)
    }

    fn flits(&self, channel: u32) -> u32 {
        let (block, o) = self.place(channel);
        self.blocks[block].output(o).flits
    }

    fn throughput(&self, channel: u32) -> f64 {
        let (block, o) = self.place(channel);
        let block = &self.blocks[block];
        let class = usize::from(block.output(o).class);
        let link = &self.net.links[class];
        // time from the grant of a flit until its credit can be used, if the flit leaves the next router's buffer in the cycle of its
        // arrival
        let round_trip = self.net.router.after_grant + link.latency + self.net.credit_returns[class];
        block.bandwidth(self.net, o).min(f64::from(link.capacity) / round_trip as f64)
    }

    fn is_broken(&self, channel: u32) -> bool {
        let (block, o) = self.place(channel);
        self.blocks[block].output(o).gate == Gate::Broken
    }

    fn publish(&mut self, published: &Published) {
        self.net.routing.hear(published);
        *self.published = Some(published.clone());
    }
}
