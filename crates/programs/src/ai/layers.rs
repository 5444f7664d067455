//! The computations and messages of a rank in a forward or backward pass through layers.

use super::degrees::{Degrees, Group};
use super::model::{Accelerator, Model};
use crate::form::{Calls, Op, Operation};

/// Sizes and times of a pass through one layer on one rank.
#[derive(Debug, Clone)]
pub struct Layer<'a> {
    pub model: &'a Model,
    pub accelerator: &'a Accelerator,
    pub degrees: Degrees,
    /// Number of tokens of a sequence.
    pub sequence: u64,
    /// Number of sequences of a micro-batch.
    pub micro_batch: u64,
    /// True if activations between blocks are divided among the tensor ranks.
    pub is_sequence_parallel: bool,
    /// True if the backward pass gathers the inputs of both blocks (attention and feed-forward) a second time.
    pub gathers_again: bool,
}

impl Layer<'_> {
    /// Bytes of the activations of a micro-batch at one rank of the context group: M = 2 s b h / c. The micro-batch has
    /// b sequences of s tokens, h is the hidden width, and there are c context ranks.
    pub fn activations(&self) -> u64 {
        2 * self.sequence * self.micro_batch * self.model.hidden / u64::from(self.degrees.context)
    }

    /// Bytes of the activations that a pipeline stage sends to the next stage: M, or M/t if the activations are divided
    /// among t tensor ranks.
    pub fn border(&self) -> u64 {
        if self.is_sequence_parallel { self.activations() / u64::from(self.degrees.tensor) } else { self.activations() }
    }

    /// Tokens of a micro-batch at one rank of the context group.
    fn tokens(&self) -> f64 {
        (self.sequence * self.micro_batch) as f64 / f64::from(self.degrees.context)
    }

    /// Computation time of a micro-batch on one rank \[ns\]. A token needs `flops_per_token` operations, which the
    /// tensor ranks share.
    pub fn time(&self, flops_per_token: f64) -> u64 {
        (flops_per_token * self.tokens() / f64::from(self.degrees.tensor) / self.accelerator.rate.0 * 1e9).round()
            as u64
    }

    /// Bytes per rank of an all-to-all that sends tokens to their experts: 2 T k h. The rank has T tokens, each token
    /// has k experts, and h is the hidden width.
    pub fn dispatched(&self) -> u64 {
        let per_token = self.model.experts.map_or(0, |experts| experts.per_token);
        let at_rank = if self.is_sequence_parallel { u64::from(self.degrees.tensor) } else { 1 };
        self.activations() / at_rank * per_token
    }

    /// Bytes of the keys and values of a rank's part of the sequence: 4 (s/c) b w / t. Here w is the width of the keys,
    /// and t the number of tensor ranks.
    pub fn keys_and_values(&self) -> u64 {
        let tokens = self.sequence * self.micro_batch / u64::from(self.degrees.context);
        4 * tokens * self.model.kv_width() / u64::from(self.degrees.tensor)
    }

    fn tensor(&self, operation: Operation, calls: &mut Calls) {
        let (t, whole) = (u64::from(self.degrees.tensor), self.activations());
        if t > 1 {
            let size = if operation == Operation::AllGather { whole / t } else { whole };
            calls.collective(Op::collective(operation, 0, size, 0).within(Group::Tensor.number()));
        }
    }

    /// Adds the start of a block: if activations are divided, the tensor ranks gather the input of the block.
    fn enter(&self, calls: &mut Calls) {
        if self.is_sequence_parallel {
            self.tensor(Operation::AllGather, calls);
        }
    }

    /// Adds the end of a block: the tensor ranks add their partial sums.
    fn leave(&self, calls: &mut Calls) {
        let operation = if self.is_sequence_parallel { Operation::ReduceScatter } else { Operation::AllReduce };
        self.tensor(operation, calls);
    }

    /// Adds the forward pass of a block: gather the input, compute for `ns`, sum the output.
    fn forward_block(&self, ns: u64, calls: &mut Calls) {
        self.enter(calls);
        calls.blocking(Op::compute(ns));
        self.leave(calls);
    }

    /// Adds the backward pass of a block: compute the gradients of the input, and then the gradients of the weights.
    /// During the second computation the tensor ranks already sum the gradients of the input.
    fn backward_block(&self, ns: u64, calls: &mut Calls) {
        let t = u64::from(self.degrees.tensor);
        self.enter(calls);
        let again = (self.is_sequence_parallel && self.gathers_again && t > 1).then(|| {
            let gather = Op::collective(Operation::AllGather, 0, self.activations() / t, 0);
            calls.start_collective(gather.within(Group::Tensor.number()))
        });
        calls.blocking(Op::compute(ns / 2));
        let operation = if self.is_sequence_parallel { Operation::ReduceScatter } else { Operation::AllReduce };
        let sum = (t > 1).then(|| {
            let sum = Op::collective(operation, 0, self.activations(), 0);
            calls.start_collective(sum.within(Group::Tensor.number()))
        });
        calls.wait_all(again);
        calls.blocking(Op::compute(ns - ns / 2));
        calls.wait_all(sum);
    }

    /// Adds attention over a sequence that is divided among context ranks. Parts of the keys and values travel around
    /// the ring of context ranks. Meanwhile each rank computes attention with the part that it has.
    fn attend(&self, me: u32, ns: u64, bytes: u64, tag: u32, calls: &mut Calls) {
        let c = self.degrees.context;
        let comm = Group::Context.number();
        for hop in 0..c {
            let requests = (hop + 1 < c).then(|| {
                let receive = Op::receive(Some((me + c - 1) % c), bytes, Some(tag + hop)).within(comm);
                let send = Op::send((me + 1) % c, bytes, Some(tag + hop)).within(comm);
                [calls.start(receive), calls.start(send)]
            });
            let until = |hop: u32| ns * u64::from(hop) / u64::from(c);
            calls.blocking(Op::compute(until(hop + 1) - until(hop)));
            calls.wait_all(requests.into_iter().flatten());
        }
    }

    /// Adds two all-to-all operations, which send tokens to their experts and back.
    fn exchange(&self, calls: &mut Calls) {
        let e = u64::from(self.degrees.expert);
        if e > 1 && self.model.experts.is_some() {
            let op = Op::collective(Operation::AllToAll, 0, self.dispatched() / e, 0);
            calls.collective(op.within(Group::Expert.number()));
        }
    }

    /// Adds the forward pass of a layer at context rank `me`.
    pub fn forward(&self, me: u32, calls: &mut Calls) {
        let attention = self.time(self.model.attention_flops(self.sequence));
        let feed_forward = self.time(self.model.feed_forward_flops());
        if self.degrees.context > 1 {
            self.enter(calls);
            self.attend(me, attention, self.keys_and_values(), 0, calls);
            self.leave(calls);
        } else {
            self.forward_block(attention, calls);
        }
        if self.model.experts.is_some() {
            self.exchange(calls);
            calls.blocking(Op::compute(feed_forward));
            self.exchange(calls);
        } else {
            self.forward_block(feed_forward, calls);
        }
    }

    /// Adds the backward pass of a layer, with twice the floating-point operations of the forward pass.
    pub fn backward(&self, me: u32, calls: &mut Calls) {
        let attention = 2 * self.time(self.model.attention_flops(self.sequence));
        let feed_forward = 2 * self.time(self.model.feed_forward_flops());
        if self.model.experts.is_some() {
            self.exchange(calls);
            calls.blocking(Op::compute(feed_forward));
            self.exchange(calls);
        } else {
            self.backward_block(feed_forward, calls);
        }
        if self.degrees.context > 1 {
            self.enter(calls);
            // on the ring travel the keys and values, and their gradients, so the size is twice that of a forward pass
            self.attend(me, attention, 2 * self.keys_and_values(), self.degrees.context, calls);
            self.leave(calls);
        } else {
            self.backward_block(attention, calls);
        }
    }
}
