//! The memory of VC allocation if it is a separate stage (`vc_allocation.rs`): grants, and the round-robin pointers of input VCs and output
//! VCs.

use weft_api::base::arrays::PerPort;
use weft_api::base::bits::pick16;
use weft_api::base::kept::Kept;

/// Round-robin pointers of the VCs, and the grants of a step. Empty if the router allocates VC and switch in one stage.
#[derive(Debug, Kept)]
pub struct VcStage<const W: usize> {
    /// For each output VC (index: output * V + VC): the input VC with the highest priority (input * V + VC). The pointer moves round-robin.
    #[kept(each)]
    turns: Vec<u16>,
    /// For each input VC (index: input * V + VC): the output VC with the highest priority (output << 4 | VC). The pointer moves
    /// round-robin.
    #[kept(each)]
    accepts: Vec<u16>,
    /// For each input VC of a router: the output VCs that granted it in this step.
    #[kept(each)]
    grants: Vec<u16>,
    /// For each output of a router: mask of the VCs that heads took in this step. These heads may send from the next step on.
    taken: PerPort<u16, W>,
    /// Largest number of ports of a router.
    #[kept(fixed)]
    radix: usize,
}

impl<const W: usize> VcStage<W> {
    /// `inputs`: number of input units of the block. `radix`: largest number of ports of a router. `vcs`: number of VCs of a port.
    pub(crate) fn new(inputs: usize, radix: usize, vcs: usize) -> Self {
        let (of_block, of_router) = (vec![0; inputs * vcs], vec![0; radix * vcs]);
        Self { turns: of_block.clone(), accepts: of_block, grants: of_router, taken: PerPort::new(0), radix }
    }

    /// The input VC (input * V + VC) with the highest round-robin priority at VC `vc` of output `o`.
    pub(crate) fn turn<const V: usize>(&self, (o, vc): (usize, usize)) -> u16 {
        self.turns[o * V + vc]
    }

    /// Records that VC `vc` of an output grants VC `v` of input `i` of the router.
    pub(crate) fn grant<const V: usize>(&mut self, (i, v): (usize, usize), vc: usize) {
        self.grants[i * V + v] |= 1 << vc;
    }

    /// Removes and returns the mask of output VCs that granted VC `v` of input `i` of the router.
    pub(crate) fn take_grants<const V: usize>(&mut self, (i, v): (usize, usize)) -> u16 {
        std::mem::take(&mut self.grants[i * V + v])
    }

    /// VC `v` of input `i` accepts one of `vcs` of output `p`. `base` is the first port of their router. Returns the accepted VC. Moves the
    /// round-robin pointers of the output VC and of the input VC past this pair.
    pub(crate) fn accept<const V: usize>(&mut self, base: usize, p: usize, (i, v): (usize, usize), vcs: u16) -> u8 {
        let turn = &mut self.accepts[(base + i) * V + v];
        // The round-robin pointer of an input VC runs over the VCs of all outputs. If it points to a VC of another output, it is before or
        // after all of `vcs`, and the lowest of `vcs` is chosen. Therefore low VCs fill first if a routing chooses outputs at random, as in
        // BookSim.
        let vc = pick16(vcs, if usize::from(*turn >> 4) == p { (*turn & 15) as u8 } else { 0 });
        *turn = (p as u16) << 4 | u16::from((vc + 1) & 15);
        self.turns[(base + p) * V + usize::from(vc)] = ((i * V + v + 1) % (self.radix * V)) as u16;
        self.taken[p] |= 1 << vc;
        vc
    }

    /// Removes and returns the mask of the VCs of output `p` that heads have taken in this step.
    pub(crate) fn settle(&mut self, p: usize) -> u16 {
        std::mem::take(&mut self.taken[p])
    }

    /// The pointers and grants. The shortcut for steady flows compares them to detect a repeated state.
    pub(crate) fn state(&self) -> [&[u16]; 3] {
        [&self.turns, &self.accepts, &self.grants]
    }
}
