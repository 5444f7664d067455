//! Programs written as a sequence of calls, like MPI programs: blocking and non-blocking calls, persistent requests, waits.

use super::op::{Op, When};
use super::ops::{Draft, Ops};
use std::collections::HashMap;
use std::sync::Arc;

/// Identifies an operation, so that a later call can wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request(u32);

impl Request {
    /// Index of the operation that this request started.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// The calls of one rank in their order. Each call begins after the previous blocking call has finished, and after the
/// previous non-blocking calls have started.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    draft: Draft,
    /// Operations for which the next call waits, each with the event (start or finish) that ends the wait.
    after: Vec<(u32, When)>,
    /// Number of collectives that each communicator has had until now.
    instances: HashMap<u16, u32>,
}

impl Calls {
    fn place(&mut self, op: Op, then: When) -> Request {
        let number = self.draft.add(op);
        for &(earlier, when) in &self.after {
            self.draft.depend(number, earlier, when);
        }
        self.after.clear();
        self.after.push((number, then));
        Request(number)
    }

    /// Adds a call that returns when its operation has finished: `MPI_Send`, `MPI_Recv`, a computation.
    pub fn blocking(&mut self, op: Op) -> Request {
        self.place(op, When::Finish)
    }

    /// Adds a call that returns when its operation has started: `MPI_Isend`, `MPI_Irecv`, or `MPI_Start` of a persistent
    /// request, which starts the same operation again.
    pub fn start(&mut self, op: Op) -> Request {
        self.place(op, When::Start)
    }

    /// Lets the next call wait until a request has finished: `MPI_Wait`.
    pub fn wait(&mut self, request: Request) {
        self.after.push((request.0, When::Finish));
    }

    /// Lets the next call wait until all these requests have finished: `MPI_Waitall`.
    pub fn wait_all(&mut self, requests: impl IntoIterator<Item = Request>) {
        requests.into_iter().for_each(|request| self.wait(request));
    }

    /// Adds a send and a receive that run at the same time: `MPI_Sendrecv`.
    pub fn exchange(&mut self, send: Op, receive: Op) {
        let requests = [self.start(receive), self.start(send)];
        self.wait_all(requests);
    }

    /// Adds a blocking collective of a communicator. All ranks of a communicator must call its collectives in the same
    /// order.
    pub fn collective(&mut self, op: Op) -> Request {
        let op = self.numbered(op);
        self.blocking(op)
    }

    /// Adds a non-blocking collective of a communicator.
    pub fn start_collective(&mut self, op: Op) -> Request {
        let op = self.numbered(op);
        self.start(op)
    }

    /// Returns the collective with its number: the count of earlier collectives in the same communicator.
    fn numbered(&mut self, op: Op) -> Op {
        let instance = self.instances.entry(op.comm()).or_insert(0);
        let op = op.tagged(*instance);
        *instance += 1;
        op
    }

    /// Stores a list of block sizes \[bytes\] for collectives with blocks of different sizes; see [`Draft::keep_sizes`].
    pub fn keep_sizes(&mut self, sizes: &[u64]) -> Option<u16> {
        self.draft.keep_sizes(sizes)
    }

    /// Stores a list of block sizes \[bytes\] that ranks share; see [`Draft::keep_shared`].
    pub fn keep_shared(&mut self, sizes: &Arc<[u64]>) -> Option<u16> {
        self.draft.keep_shared(sizes)
    }

    /// Returns the operations added so far.
    pub fn ops(&self) -> &[Op] {
        self.draft.ops()
    }

    /// Replaces operation `index` by `op`. The operation must exist. A reader needs this if a later call or another rank gives
    /// more information about the operation.
    pub fn replace(&mut self, index: u32, op: Op) {
        self.draft.replace(index, op);
    }

    /// True if no operation was added yet.
    pub fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    /// Returns the partial order of the operations. The order has no cycle, because each call waits only for earlier
    /// calls.
    pub fn finish(self) -> Ops {
        self.draft.unchecked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_after_a_wait_needs_the_start_of_one_and_the_finish_of_the_other() {
        let mut calls = Calls::default();
        let sent = calls.start(Op::send(1, 8, Some(0)));
        calls.blocking(Op::compute(5));
        calls.wait(sent);
        calls.blocking(Op::compute(7));
        let ops = calls.finish();
        assert_eq!(ops.successors(0, When::Start), [1], "compute overlaps the send");
        assert_eq!(ops.successors(0, When::Finish), [2], "until the wait");
        assert_eq!(ops.successors(1, When::Finish), [2]);
    }

    #[test]
    fn a_persistent_request_is_the_same_operation_started_again() {
        let mut calls = Calls::default();
        let persistent = Op::receive(Some(1), 64, Some(7));
        for _ in 0..3 {
            let request = calls.start(persistent);
            calls.wait(request);
        }
        let ops = calls.finish();
        assert_eq!(ops.ops(), [persistent; 3]);
        assert_eq!(ops.successors(0, When::Finish), [1], "it starts again after it has finished");
    }

    #[test]
    fn collectives_are_numbered_within_their_communicator() {
        use super::super::op::Operation;
        let mut calls = Calls::default();
        for comm in [0, 1, 0, 1, 1] {
            calls.collective(Op::collective(Operation::Barrier, 0, 0, 0).within(comm));
        }
        let numbers: Vec<u32> = calls.finish().ops().iter().map(Op::instance).collect();
        assert_eq!(numbers, [0, 0, 1, 1, 2]);
    }
}
