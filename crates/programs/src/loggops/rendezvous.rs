//! Messages between nodes above the eager limit: request, reply and data, as in the engine's workload `programs`.
//!
//! The request costs processor time at the sender and at the receiver. When a receive has matched the request, the receiver's
//! interface replies. Then the sender's interface sends the data. The send finishes when the data have left, and the receive
//! finishes when the data have arrived. The ends of the send and the receive cost no processor time. Requests and replies
//! have priority over data. In this model they therefore neither wait for an interface nor occupy it.

use super::nodes::Stage;
use super::waiting::Needs;
use super::{About, Executor, Nodes};
use crate::form::Cursor;
use crate::rank::{OpId, Ready};

impl<C: Cursor> Executor<C> {
    /// Handles the next event of a message. If a processor must handle the message now, returns the resources that are
    /// necessary for this.
    pub(super) fn progress(
        &mut self,
        nodes: Nodes,
        (time, rank): (i64, u32),
        place: u32,
        out: &mut Vec<Ready>,
    ) -> Option<Needs> {
        let message = *self.messages.get(place);
        match message.stage {
            Stage::Whole | Stage::Request => return Some(Needs::Cpu),
            Stage::FirstByte => self.come_in(nodes, time, rank, place),
            Stage::Reply => self.send_data(nodes, time, rank, place),
            // sender and receiver are different ranks, so an event at the sender's rank is the end of the send. The stage can
            // already be `Filled`, if the first data byte has arrived at the receiver
            Stage::Data | Stage::Filled if rank == message.from => self.complete(time, rank, message.sender, out),
            Stage::Data => self.come_in(nodes, time, rank, place),
            Stage::Filled => {
                self.messages.release(place);
                self.complete(time, rank, message.receive, out);
            }
        }
        None
    }

    /// Called when a receive has matched a request at `now`. The receiver's interface replies when a processor has
    /// handled the request.
    pub(super) fn reply(&mut self, nodes: Nodes, now: i64, receive: OpId, place: u32) {
        let message = self.messages.get_mut(place);
        (message.stage, message.receive) = (Stage::Reply, receive);
        let (sender, handled) = (message.from, message.handled);
        let arrival = self.later(now.max(handled), nodes.reply);
        self.push(arrival, sender, About::Message(place));
    }

    /// Called when the reply has arrived at the sender. The sender's interface sends the data when it is free.
    fn send_data(&mut self, nodes: Nodes, time: i64, rank: u32, place: u32) {
        let message = self.messages.get_mut(place);
        message.stage = Stage::Data;
        let (size, to) = (message.size, message.to);
        let interface = nodes.interface(rank, (rank, to));
        let begin = time.max(self.send_free[interface]);
        let bytes = self.of_bytes(size, self.at.gap_per_byte).max(0);
        let left = self.later(begin, self.at.gap + bytes);
        self.send_free[interface] = left;
        let arrival = self.later(begin, nodes.data);
        // the sender is notified before the receiver, because the receiver's event frees the place of the message
        let known = self.later(left, 2 * nodes.host).min(self.later(arrival, bytes));
        self.push(known, rank, About::Message(place));
        self.push(arrival, to, About::Message(place));
    }

    /// Finishes an operation at `now` without processor time. The operations that it releases begin at `now` or later.
    fn complete(&mut self, now: i64, rank: u32, operation: OpId, out: &mut Vec<Ready>) {
        let first = self.cpu(rank, 0);
        for free in &mut self.cpu_free[first..first + self.cpus] {
            *free = now.max(*free);
        }
        self.finish(rank, operation, now, out);
        self.enqueue(rank, out);
    }
}
