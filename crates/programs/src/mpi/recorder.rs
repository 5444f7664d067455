//! Records the calls of one rank in their order.

use super::blocks::Blocks;
use super::comms::{Creation, Group, How, Unnamed};
use super::{Assumed, Assumptions};
use crate::form::{Calls, Op, Request};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

/// The numbers with which a trace format identifies the predefined communicators: of all ranks (`world`), of the rank itself,
/// and "no communicator".
#[derive(Debug, Clone, Copy)]
pub struct Handles {
    pub world: i64,
    /// The communicator that contains only the rank itself (`MPI_COMM_SELF`).
    pub own: i64,
    pub none: i64,
}

/// The other end of a message, as a number in its communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Rank(u32),
    Any,
    /// `MPI_PROC_NULL`: the call sends or receives no message.
    Nobody,
}

/// The status of a completed receive, as recorded in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    pub peer: Peer,
    pub tag: u32,
    pub bytes: u64,
    pub is_cancelled: bool,
}

/// A request (`MPI_Request`) of the recorded program.
#[derive(Debug, Clone, Copy)]
struct Active {
    /// The operation that is active; `None` if the peer of the message is `MPI_PROC_NULL`, or if a persistent request is
    /// inactive.
    under_way: Option<Request>,
    /// The operation that each start of a persistent request starts again; `None` for other requests.
    again: Option<Option<Op>>,
    is_receive: bool,
    is_cancelled: bool,
}

/// The reason why a call cannot be recorded, and the remedy.
pub type Problem = (String, String);

/// Records the calls of one rank.
pub struct Recorder {
    pub(super) calls: Calls,
    pub(super) created: Vec<Creation>,
    /// Collectives for which the block sizes of other ranks are necessary, and prefix sums, which become messages.
    pub(super) blocks: Vec<Blocks>,
    /// The number of the communicator that contains only this rank.
    pub(super) own: Option<u16>,
    pub(super) comms: u16,
    pub(super) assumptions: Assumptions,
    /// Cancelled receives without a status in their completion: for each, its position among the calls, and the
    /// receive.
    pub(super) cancelled: Vec<(u32, Op)>,
    /// Communicators whose creation is not named in the trace.
    pub(super) unnamed: Vec<Unnamed>,
    handles: Handles,
    numbers: HashMap<i64, u16>,
    groups: HashMap<i64, Rc<Group>>,
    requests: HashMap<i64, Active>,
    /// Operations that are still active although a later operation uses their request number again, the oldest first. This
    /// happens because MPI can use one request for all sends that complete immediately.
    earlier: HashMap<i64, VecDeque<Active>>,
}

impl Recorder {
    pub fn new(handles: Handles) -> Self {
        Self {
            calls: Calls::default(),
            created: Vec::new(),
            blocks: Vec::new(),
            own: None,
            comms: 0,
            assumptions: Assumptions::new(),
            cancelled: Vec::new(),
            unnamed: Vec::new(),
            handles,
            numbers: HashMap::from([(handles.world, 0)]),
            groups: HashMap::new(),
            requests: HashMap::new(),
            earlier: HashMap::new(),
        }
    }

    /// Counts an assumption.
    pub fn assume(&mut self, assumed: Assumed) {
        *self.assumptions.entry(assumed).or_default() += 1;
    }

    /// Records a computation of `ns` \[ns\].
    pub fn compute(&mut self, ns: u64) {
        if ns > 0 {
            self.calls.blocking(Op::compute(ns));
        }
    }

    fn new_comm(&mut self, handle: i64) -> Result<u16, Problem> {
        self.comms = self.comms.checked_add(1).ok_or_else(|| {
            let what = "the rank creates more than 65,535 communicators".to_owned();
            (what, "record only a part of the program".to_owned())
        })?;
        self.numbers.insert(handle, self.comms);
        Ok(self.comms)
    }

    /// Returns the number of a communicator. A communicator that no recorded call creates also gets a number. After the last
    /// call such a communicator is refused.
    pub(super) fn comm(&mut self, handle: i64) -> Result<u16, Problem> {
        if let Some(&number) = self.numbers.get(&handle) {
            return Ok(number);
        }
        let number = self.new_comm(handle)?;
        if handle == self.handles.own {
            self.own = Some(number);
        }
        Ok(number)
    }

    fn message(
        &mut self,
        is_receive: bool,
        peer: Peer,
        bytes: u64,
        tag: Option<u32>,
        comm: i64,
    ) -> Result<Option<Op>, Problem> {
        let comm = self.comm(comm)?;
        if peer == Peer::Rank(u32::MAX) || tag == Some(u32::MAX) {
            let what = format!("{} is neither a rank nor a tag of MPI", u32::MAX);
            return Err((what, "the file is damaged: copy it again".to_owned()));
        }
        Ok(match (peer, is_receive) {
            (Peer::Rank(peer), false) => Some(Op::send(peer, bytes, tag).within(comm)),
            (Peer::Rank(peer), true) => Some(Op::receive(Some(peer), bytes, tag).within(comm)),
            (Peer::Any, true) => Some(Op::receive(None, bytes, tag).within(comm)),
            (Peer::Any | Peer::Nobody, _) => None,
        })
    }

    /// Records `MPI_Send` or one of its variants.
    pub fn send(&mut self, peer: Peer, bytes: u64, tag: Option<u32>, comm: i64) -> Result<(), Problem> {
        if let Some(op) = self.message(false, peer, bytes, tag, comm)? {
            self.calls.blocking(op);
        }
        Ok(())
    }

    /// Records `MPI_Recv`.
    pub fn receive(
        &mut self,
        peer: Peer,
        bytes: u64,
        tag: Option<u32>,
        comm: i64,
        done: Option<Completion>,
    ) -> Result<(), Problem> {
        if let Some(op) = self.message(true, peer, bytes, tag, comm)? {
            let request = self.calls.blocking(op);
            self.complete_receive(request.index(), false, done);
        }
        Ok(())
    }

    /// Records `MPI_Sendrecv`: a send and a receive at the same time.
    pub fn exchange(
        &mut self,
        send: (Peer, u64, Option<u32>),
        receive: (Peer, u64, Option<u32>),
        comm: i64,
        done: Option<Completion>,
    ) -> Result<(), Problem> {
        let receive = self.message(true, receive.0, receive.1, receive.2, comm)?;
        let send = self.message(false, send.0, send.1, send.2, comm)?;
        let received = receive.map(|op| self.calls.start(op));
        let sent = send.map(|op| self.calls.start(op));
        if let Some(received) = received {
            self.complete_receive(received.index(), false, done);
        }
        self.calls.wait_all(received.into_iter().chain(sent));
        Ok(())
    }

    /// Records `MPI_Isend`, `MPI_Irecv` or one of their variants. If `is_persistent`, records `MPI_Send_init` or a variant,
    /// which only stores the operation.
    pub fn start(
        &mut self,
        is_receive: bool,
        is_persistent: bool,
        (peer, bytes, tag): (Peer, u64, Option<u32>),
        comm: i64,
        request: i64,
    ) -> Result<(), Problem> {
        let op = self.message(is_receive, peer, bytes, tag, comm)?;
        let active = if is_persistent {
            Active { under_way: None, again: Some(op), is_receive, is_cancelled: false }
        } else {
            Active { under_way: op.map(|op| self.calls.start(op)), again: None, is_receive, is_cancelled: false }
        };
        self.keep(request, active);
        Ok(())
    }

    fn keep(&mut self, request: i64, active: Active) {
        if let Some(earlier) = self.requests.insert(request, active).filter(|earlier| earlier.under_way.is_some()) {
            self.earlier.entry(request).or_default().push_back(earlier);
        }
    }

    /// Stores a non-blocking collective under the number of its request.
    pub(super) fn keep_collective(&mut self, request: i64, under_way: Request) {
        self.keep(request, Active { under_way: Some(under_way), again: None, is_receive: false, is_cancelled: false });
    }

    /// Records `MPI_Start` of a persistent request.
    pub fn restart(&mut self, request: i64) {
        match self.requests.get_mut(&request) {
            Some(active) => active.under_way = active.again.flatten().map(|op| self.calls.start(op)),
            None => self.assume(Assumed::StartNotRecorded),
        }
    }

    /// Counts the assumption for an operation that no call completes.
    fn lose(&mut self, active: &Active) {
        let Some(request) = active.under_way else { return };
        if active.is_cancelled {
            self.complete_receive(request.index(), true, None);
        } else {
            self.assume(Assumed::NeverCompleted);
        }
    }

    /// `MPI_Request_free`. Later operations with the same request number are not affected.
    pub fn free(&mut self, request: i64) {
        let has_later = self.earlier.get(&request).is_some_and(|earlier| !earlier.is_empty());
        if let Some(active) = self.ended(request) {
            if !has_later {
                self.requests.remove(&request);
            }
            self.lose(&active);
        }
    }

    /// Records `MPI_Cancel`.
    pub fn cancel(&mut self, request: i64) {
        if let Some(active) = self.requests.get_mut(&request) {
            active.is_cancelled = true;
        }
    }

    /// Records that `MPI_Wait`, `MPI_Test` or a variant completes a request. The next call waits for the operation.
    pub fn complete(&mut self, request: i64, done: Option<Completion>) {
        let Some(Active { is_receive, is_cancelled, under_way, .. }) = self.ended(request) else {
            self.assume(Assumed::StartNotRecorded);
            return;
        };
        let Some(under_way) = under_way else { return };
        if is_receive {
            self.complete_receive(under_way.index(), is_cancelled, done);
        }
        self.calls.wait(under_way);
    }

    /// Records the completion of a request, if the request is active. Formats use this function if their traces also contain
    /// waits for requests that have already ended.
    pub fn complete_if_known(&mut self, request: i64) {
        if self.requests.contains_key(&request) {
            self.complete(request, None);
        }
    }

    /// Records the completion of an array of `count` requests with the numbers `first`, `first + step`, ... The function skips
    /// requests that have ended. If the count is damaged, the function checks each active request at most once.
    pub fn complete_array(&mut self, first: i64, count: i64, step: u32) {
        let last = first.saturating_add(i64::from(step).saturating_mul(count.max(0) - 1));
        if usize::try_from(count.max(0)).is_ok_and(|count| count <= self.requests.len()) {
            (first..=last).step_by(step as usize).for_each(|request| self.complete_if_known(request));
            return;
        }
        let is_of =
            |request: &i64| (first..=last).contains(request) && request.abs_diff(first).is_multiple_of(step.into());
        let mut requests: Vec<i64> = self.requests.keys().copied().filter(is_of).collect();
        requests.sort_unstable();
        requests.into_iter().for_each(|request| self.complete(request, None));
    }

    /// Ends and returns the oldest operation of a request.
    fn ended(&mut self, request: i64) -> Option<Active> {
        if !self.earlier.is_empty()
            && let Some(earlier) = self.earlier.get_mut(&request).and_then(VecDeque::pop_front)
        {
            return Some(earlier);
        }
        let active = self.requests.get_mut(&request)?;
        let ended = *active;
        (active.under_way, active.is_cancelled) = (None, false);
        if ended.again.is_none() {
            self.requests.remove(&request);
        }
        Some(ended)
    }

    /// Completes a receive with the values of its status.
    fn complete_receive(&mut self, index: u32, is_cancelled: bool, done: Option<Completion>) {
        let op = self.calls.ops()[index as usize];
        let receive = match done {
            Some(done) if is_cancelled && done.is_cancelled => None,
            None if is_cancelled => {
                self.cancelled.push((index, op));
                None
            }
            Some(done) => match done.peer {
                Peer::Rank(peer) if op.peer().is_none_or(|known| known == peer) => {
                    let tag = op.tag().unwrap_or(done.tag);
                    Some(Op::receive(Some(peer), op.size().min(done.bytes), Some(tag)).within(op.comm()))
                }
                // this receive from any source got no message
                Peer::Nobody if op.peer().is_none() => {
                    self.calls.replace(index, Op::compute(0));
                    return;
                }
                Peer::Rank(_) | Peer::Any | Peer::Nobody => Some(op),
            },
            None => Some(op),
        };
        match receive {
            None => {
                self.calls.replace(index, Op::compute(0));
                self.assume(Assumed::Cancelled);
            }
            Some(op) => {
                self.calls.replace(index, op);
                if op.peer().is_none() || op.tag().is_none() {
                    self.assume(Assumed::WildcardKept);
                }
            }
        }
    }

    /// Records the creation of a communicator with the members that the trace lists, in this order.
    pub fn create_of(&mut self, members: Vec<u32>, new: i64) -> Result<(), Problem> {
        let new = Some(self.new_comm(new)?);
        self.created.push(Creation { call: "Comm_create", parent: 0, how: How::Listed(members.into()), new });
        Ok(())
    }

    /// Records the creation of a communicator from `parent`; `new` may be the null communicator.
    pub fn create(&mut self, call: &'static str, parent: i64, how: How, new: i64) -> Result<(), Problem> {
        let parent = self.comm(parent)?;
        let new = if new == self.handles.none { None } else { Some(self.new_comm(new)?) };
        if matches!(how, How::Grid(_)) {
            self.assume(Assumed::NotReordered);
        }
        self.created.push(Creation { call, parent, how, new });
        Ok(())
    }

    /// Records a call on a communicator for which the trace has only the number of its ranks, and the number of this rank in
    /// it. The creation of the communicator must be the one that matches these numbers, among the creations before the first
    /// such call.
    pub fn unnamed(&mut self, handle: i64, (place, size): (u32, u32), call: &str) -> Result<(), Problem> {
        let number = self.comm(handle)?;
        let known = self.unnamed.iter_mut().find(|unnamed| unnamed.number == number);
        let unnamed = match known {
            Some(unnamed) => unnamed,
            None => {
                let created = self.created.len();
                self.unnamed.push(Unnamed { number, place, size, created, calls: BTreeMap::new() });
                let last = self.unnamed.len() - 1;
                &mut self.unnamed[last]
            }
        };
        *unnamed.calls.entry(call.to_owned()).or_default() += 1;
        Ok(())
    }

    /// Stores a group of ranks of a communicator under the number `new`.
    pub fn group_of(&mut self, comm: i64, new: i64) -> Result<(), Problem> {
        let comm = self.comm(comm)?;
        self.groups.insert(new, Rc::new(Group::Of(comm)));
        Ok(())
    }

    /// Stores a group under a number.
    pub fn keep_group(&mut self, new: i64, group: Group) {
        self.groups.insert(new, Rc::new(group));
    }

    /// Returns the group with a number. If no recorded call made the group, it is empty.
    pub fn group(&self, handle: i64) -> Rc<Group> {
        self.groups.get(&handle).cloned().unwrap_or_else(|| Rc::new(Group::Empty))
    }

    /// Called after the last call of the rank. Counts the operations that no call completed.
    pub fn end(&mut self) {
        let mut left: Vec<(i64, Active)> = self.requests.drain().collect();
        left.sort_by_key(|&(request, _)| request);
        left.extend(
            self.earlier.drain().flat_map(|(request, all)| all.into_iter().map(move |active| (request, active))),
        );
        left.iter().for_each(|(_, active)| self.lose(active));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> Recorder {
        Recorder::new(Handles { world: 0, own: 1, none: -1 })
    }

    fn send(recorder: &mut Recorder, request: i64) {
        recorder.start(false, false, (Peer::Rank(1), 8, Some(0)), 0, request).unwrap();
    }

    #[test]
    fn a_request_that_is_freed_leaves_a_later_one_of_its_number() {
        let mut recorder = recorder();
        (0..2).for_each(|_| send(&mut recorder, 5));
        recorder.free(5);
        recorder.complete(5, None);
        assert_eq!(recorder.assumptions, Assumptions::from([(Assumed::NeverCompleted, 1)]));
        recorder.complete(5, None);
        assert_eq!(recorder.assumptions[&Assumed::StartNotRecorded], 1);
    }

    /// The array has the requests 0, 8, 16 and 24. All must be completed with a correct count and with a damaged count.
    /// Request 20 is not in the array.
    #[test]
    fn an_array_of_requests_is_completed_whatever_its_count() {
        for count in [4, i64::MAX] {
            let mut recorder = recorder();
            [8, 24, 20].into_iter().for_each(|request| send(&mut recorder, request));
            recorder.complete_array(0, count, 8);
            assert_eq!(recorder.requests.keys().collect::<Vec<_>>(), [&20], "{count}");
        }
    }
}
