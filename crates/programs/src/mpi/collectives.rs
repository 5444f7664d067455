//! Records collectives, blocking and non-blocking.

use super::Assumed;
use super::blocks::Blocks;
use super::recorder::{Problem, Recorder};
use crate::form::{Op, Operation, Request};

/// The communicator of a collective. For a non-blocking collective, also the request that a later wait completes.
#[derive(Debug, Clone, Copy)]
pub struct On {
    pub comm: i64,
    pub request: Option<i64>,
}

impl From<i64> for On {
    /// A blocking collective of a communicator.
    fn from(comm: i64) -> Self {
        Self { comm, request: None }
    }
}

impl Recorder {
    fn place(&mut self, op: Op, on: On) -> Result<Request, Problem> {
        let op = op.within(self.comm(on.comm)?);
        Ok(match on.request {
            None => self.calls.collective(op),
            Some(request) => {
                let under_way = self.calls.start_collective(op);
                self.keep_collective(request, under_way);
                under_way
            }
        })
    }

    /// Records a collective whose blocks have one size; see [`Op::collective`] for `bytes`.
    pub fn collective(
        &mut self,
        operation: Operation,
        root: u32,
        bytes: u64,
        on: impl Into<On>,
    ) -> Result<(), Problem> {
        self.place(Op::collective(operation, root, bytes, 0), on.into()).map(drop)
    }

    /// Records a gather, scatter, all-gather or reduce-scatter with blocks of different sizes \[bytes\]. `sizes` is `None`
    /// if this rank does not know the sizes.
    pub fn blocks(
        &mut self,
        operation: Operation,
        root: u32,
        sizes: Option<Vec<u64>>,
        on: impl Into<On>,
    ) -> Result<(), Problem> {
        let request = self.place(Op::collective(operation, root, 0, 0), on.into())?;
        self.blocks.push(Blocks::Known { index: request.index(), sizes });
        Ok(())
    }

    /// Records an all-to-all with blocks of different sizes \[bytes\]: the sizes of the blocks that this rank sends and
    /// receives.
    pub fn exchange_blocks(&mut self, sends: Vec<u64>, receives: Vec<u64>, on: impl Into<On>) -> Result<(), Problem> {
        let request = self.place(Op::collective(Operation::AllToAll, 0, 0, 0), on.into())?;
        self.blocks.push(Blocks::Row { index: request.index(), sends, receives });
        Ok(())
    }

    /// Records a prefix sum of `bytes` \[bytes\]: a receive from the previous rank, then a send to the next rank.
    pub fn scan(&mut self, bytes: u64, comm: i64) -> Result<(), Problem> {
        let comm = self.comm(comm)?;
        let receive = self.calls.blocking(Op::compute(0).within(comm));
        let send = self.calls.blocking(Op::compute(0).within(comm));
        self.blocks.push(Blocks::Chain { receive: receive.index(), send: send.index(), bytes });
        self.assume(Assumed::Scan);
        Ok(())
    }
}
