//! The state machine of one rank. The machine determines which operations can start. The machine has no clock, and does no input or
//! output.
//!
//! The caller is the LogGOPS executor or a network engine. The caller calls [`Machine::start`], [`Machine::finish`], [`Machine::post`]
//! for a receive, and [`Machine::arrive`] for a message. The machine returns [`Ready`] operations, and matches of messages and receives.
//! The caller decides when a send has finished. An eager send has finished when it has left the rank. A rendezvous send has finished
//! when its receive has matched. The machine never returns a collective to the caller. When a collective can start, the machine expands
//! it into messages. The collective has finished when all its messages have finished.

mod counters;
mod kept;
mod matching;

pub use matching::{Key, Queue};

use crate::collectives::{Rules, numbered};
use crate::form::{Comm, Cursor, Kind, Op, Ops, When};
use counters::Counters;
use std::sync::Arc;
use weft_units::prefetch::{prefetch_first_line, prefetch_whole};

/// Identifies an operation of a rank. The operation belongs either to the program itself, or to an active collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(u64);

impl OpId {
    fn new(expansion: usize, index: u32) -> Self {
        Self((expansion as u64) << 32 | u64::from(index))
    }

    /// Returns 0 if the operation belongs to the program itself. Otherwise returns the index of its collective in the list `expansions` of
    /// the machine, plus 1.
    fn expansion(self) -> usize {
        (self.0 >> 32) as usize
    }

    fn index(self) -> u32 {
        self.0 as u32
    }

    /// Returns this identifier as bits. The highest bit is 0.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Converts bits from [`Self::to_bits`] to an identifier.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the index of the operation in the program; `None` for a message of a collective.
    pub fn in_program(self) -> Option<u32> {
        (self.expansion() == 0).then(|| self.index())
    }
}

/// An operation that can start. It is a computation, a send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    pub id: OpId,
    /// The operation. Its peer is a rank of the program, also if the operation uses another communicator than that of all ranks.
    pub op: Op,
    /// Messages of different contexts never match.
    pub context: u32,
}

impl Ready {
    /// Returns the operation with its peer converted to a rank of the program. `comms` has the communicators of the
    /// rank.
    fn within(self, comms: &[Comm]) -> Self {
        match usize::from(self.op.comm()).checked_sub(1).map(|place| &comms[place]) {
            None => self,
            Some(comm) => Self { op: in_program(self.op, Some(&comm.members)), context: 2 * comm.number, ..self },
        }
    }

    /// True for a receive of a collective. No other operation waits for the start of such a receive.
    #[inline]
    pub(crate) fn is_only_posted(&self) -> bool {
        self.op.kind() == Kind::Receive && self.id.in_program().is_none()
    }

    /// Returns the key of the message that rank `me` sends with this operation.
    pub fn message_key(&self, me: u32) -> Key {
        Key { context: self.context, source: me, tag: self.op.raw().1 }
    }

    /// Returns the key of this receive.
    fn receive_key(&self) -> Key {
        let (source, tag) = self.op.raw();
        Key { context: self.context, source, tag }
    }
}

/// Converts the peer of an operation to a rank of the program. `members` has the ranks of its communicator; `None` means all
/// ranks.
#[inline]
fn in_program(op: Op, members: Option<&[u32]>) -> Op {
    let peer = members.and_then(|members| members.get(op.peer()? as usize).copied());
    peer.map_or(op, |peer| op.to_peer(peer))
}

/// A collective that was expanded into messages.
#[derive(Debug, Clone)]
struct Expansion {
    ops: Arc<Ops>,
    remaining: Vec<u32>,
    left: usize,
    /// The index of the collective in the program.
    parent: u32,
    /// The operation that calls the collective.
    call: Op,
    /// The context of the messages of the collective.
    context: u32,
    /// The ranks of the collective's communicator; `None` means all ranks.
    members: Option<Arc<[u32]>>,
}

impl Expansion {
    /// The properties of a collective that determine its messages. Collectives of equal form have the same messages, apart from the
    /// number of the collective in the tags.
    fn form(call: &Op) -> Op {
        call.tagged(0)
    }

    /// Makes the expansion of operation `parent` of the program, which is a collective that has begun. `ops` has the messages of the
    /// collective. `comms` has the communicators of the rank.
    fn new(ops: Arc<Ops>, (parent, call): (u32, Op), comms: &[Comm]) -> Self {
        let (remaining, left) = (ops.predecessor_counts().to_vec(), ops.len());
        let comm = usize::from(call.comm()).checked_sub(1).map(|place| &comms[place]);
        let (number, members) = comm.map_or((0, None), |comm| (comm.number, Some(Arc::clone(&comm.members))));
        Self { ops, remaining, left, parent, call, context: 2 * number + 1, members }
    }

    /// Returns an operation of the collective.
    #[inline]
    fn ready(&self, id: OpId) -> Ready {
        let op = self.ops.op(id.index());
        let op = match op.kind() {
            Kind::Send | Kind::Receive => numbered(op, self.call.instance()),
            Kind::Compute | Kind::Collective(_) => op,
        };
        Ready { id, op: in_program(op, self.members.as_deref()), context: self.context }
    }

    /// Records that an operation of the collective has finished. Appends the operations that waited only for this
    /// operation.
    #[inline]
    fn finish(&mut self, id: OpId, out: &mut Vec<Ready>) {
        let ops = &*self.ops;
        for &later in ops.successors(id.index(), When::Finish) {
            let left = &mut self.remaining[later as usize];
            *left -= 1;
            if *left == 0 {
                out.push(self.ready(OpId::new(id.expansion(), later)));
            }
        }
        self.left -= 1;
    }
}

/// A rank stores ended collectives, because the next collective of the same form can use the same messages. `MOST_SPARE_OPS` limits the
/// operations of such a collective, and `MOST_SPARE` the number of such collectives. Ranks share the operations, so each rank needs less
/// than 1 KB of additional data.
const MOST_SPARE_OPS: usize = 32;
const MOST_SPARE: usize = 4;

/// Distance from the present operation to the one that [`Machine::bring_later`] prefetches [operations]. A cache line has 2 or 3
/// operations, so the prefetched operation is in a later cache line.
const LATER: u32 = 4;

/// The state machine of a rank of a program. `Handle` is the type of the caller's data about a message. The fields that each
/// operation needs come first, so that they are in few cache lines.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Machine<C, Handle> {
    cursor: C,
    remaining: Counters,
    /// Collectives that can start but are not yet expanded.
    work: Vec<OpId>,
    finished: u32,
    me: u32,
    posted: Queue<OpId>,
    unexpected: Queue<Handle>,
    expansions: Vec<Option<Expansion>>,
    /// Ended collectives that the machine stores, in the order of their ends.
    spare: Vec<Expansion>,
    comms: Vec<Comm>,
    rules: Arc<Rules>,
    ranks: u32,
    /// Records of collectives that have begun or ended since the last call of [`Machine::take_noted`]; `None` unless the caller requested
    /// records.
    noted: Option<Vec<Noted>>,
}

/// A record of a collective that has begun or ended at the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noted {
    /// The index of the collective among the operations of the rank.
    pub index: u32,
    pub has_ended: bool,
}

impl<C: Cursor, Handle: Copy> Machine<C, Handle> {
    /// Makes the machine of rank `me` in a program of `ranks` ranks. `rules` expand collectives into messages.
    pub fn new(mut cursor: C, me: u32, ranks: u32, comms: Vec<Comm>, rules: Arc<Rules>) -> Self {
        let remaining = Counters::new(&mut cursor);
        let (posted, unexpected) = (Queue::default(), Queue::default());
        let (expansions, spare, work) = (Vec::new(), Vec::new(), Vec::new());
        let (finished, noted) = (0, None);
        Self {
            cursor,
            me,
            ranks,
            comms,
            rules,
            remaining,
            finished,
            expansions,
            spare,
            posted,
            unexpected,
            work,
            noted,
        }
    }

    /// From now on the machine records when collectives begin and end. The caller must call [`Machine::take_noted`] after each call of the
    /// machine.
    pub fn note_collectives(&mut self) {
        self.noted = Some(Vec::new());
    }

    /// Removes the records that were made since the last call of this function, and calls `each` with them.
    pub fn take_noted(&mut self, each: impl FnMut(Noted)) {
        self.noted.iter_mut().flat_map(|noted| noted.drain(..)).for_each(each);
    }

    /// Returns collective `index` of the program: its operation, and its communicator.
    pub fn call(&mut self, index: u32) -> (Op, Option<&Comm>) {
        let op = self.cursor.op(index);
        (op, usize::from(op.comm()).checked_sub(1).map(|place| &self.comms[place]))
    }

    /// Starts the rank: appends the operations without predecessors to `out`.
    pub fn begin(&mut self, out: &mut Vec<Ready>) {
        let mut roots = Vec::new();
        self.cursor.roots(|index| roots.push(index));
        for index in roots {
            release(index, &self.cursor.op(index), &self.comms, &mut self.work, out);
        }
        self.settle(out);
    }

    /// Called when an operation has started. Appends the operations that waited for its start to `out`.
    #[inline]
    pub fn start(&mut self, id: OpId, out: &mut Vec<Ready>) {
        // messages of a collective wait only for the ends of operations, never for their starts
        if let Some(index) = id.in_program() {
            self.satisfy(index, When::Start, out);
            self.settle(out);
        }
    }

    /// Called when an operation has finished. Appends the operations that waited for its end to `out`.
    #[inline]
    pub fn finish(&mut self, id: OpId, out: &mut Vec<Ready>) {
        match id.expansion().checked_sub(1) {
            None => self.ended(id.index(), out),
            Some(place) => self.ended_within(place, id, out),
        }
        self.settle(out);
    }

    /// Called when a receive has started. Returns the matching message if it has arrived. Otherwise the receive waits for such a message.
    pub fn post(&mut self, receive: &Ready) -> Option<Handle> {
        let key = receive.receive_key();
        let taken = self.unexpected.take(key);
        if taken.is_none() {
            self.posted.push(key, receive.id);
        }
        taken
    }

    /// Called when a message has arrived. Returns the matching receive if it has started. Otherwise the message waits for such a receive.
    pub fn arrive(&mut self, key: Key, message: Handle) -> Option<OpId> {
        let taken = self.posted.take(key);
        if taken.is_none() {
            self.unexpected.push(key, message);
        }
        taken
    }

    /// Prefetches the lists that the next call of this machine reads.
    #[inline]
    pub fn bring_lists(&self) {
        self.cursor.bring_places();
        self.posted.bring();
        self.unexpected.bring();
        if !self.expansions.is_empty() {
            prefetch_whole(&self.expansions, 0);
        }
    }

    /// Prefetches the edge counts of the first active collective.
    #[inline]
    pub fn bring_collective(&self) {
        if let Some(Some(expansion)) = self.expansions.first() {
            prefetch_first_line(&expansion.remaining, 0);
        }
    }

    /// Prefetches the data of a later operation of the program. The choice assumes that operations finish in the order of their indices.
    #[inline]
    pub fn bring_later(&self, id: OpId) {
        if let Some(index) = id.in_program() {
            self.cursor.bring(index.wrapping_add(LATER));
            self.remaining.bring(index.wrapping_add(LATER));
        }
    }

    /// Returns the operation for an identifier that this machine returned.
    #[inline]
    pub fn ready(&mut self, id: OpId) -> Ready {
        match id.expansion().checked_sub(1) {
            None => {
                let op = self.cursor.op(id.index());
                Ready { id, op, context: 0 }.within(&self.comms)
            }
            Some(place) => self.expansions[place].as_ref().expect("an operation of a collective under way").ready(id),
        }
    }

    /// Returns a unique number of an operation within the rank, in two parts. The first part is the index of the operation in the program.
    /// The second part is 0, or the index of the operation within its collective plus 1.
    pub fn number(&self, id: OpId) -> (u32, u32) {
        match id.expansion().checked_sub(1) {
            None => (id.index(), 0),
            Some(place) => {
                let expansion = self.expansions[place].as_ref().expect("an operation of a collective under way");
                (expansion.parent, id.index() + 1)
            }
        }
    }

    /// Returns the number of finished operations of the program, and the number of all its operations.
    pub fn progress(&self) -> (u32, u32) {
        (self.finished, self.cursor.len())
    }

    /// True if all operations have finished and every message was received.
    pub fn is_done(&self) -> bool {
        self.finished == self.cursor.len() && self.unexpected.is_empty()
    }

    /// Returns the receives that wait for a message, in their order.
    pub fn waiting(&self) -> Vec<(Key, OpId)> {
        self.posted.iter().collect()
    }

    /// True if there are messages that match no receive so far.
    #[inline]
    pub fn has_unexpected(&self) -> bool {
        !self.unexpected.is_empty()
    }

    /// Returns the messages that match no receive so far, in the order of their arrival.
    pub fn unexpected(&self) -> Vec<(Key, Handle)> {
        self.unexpected.iter().collect()
    }

    pub fn cursor(&self) -> &C {
        &self.cursor
    }

    /// Counts one edge as satisfied at each operation that waits for operation `index` of the program. Releases those that have no further
    /// unsatisfied edges. The caller gets the released operations, except for collectives, which the machine expands.
    #[inline]
    fn satisfy(&mut self, index: u32, when: When, out: &mut Vec<Ready>) {
        let Self { cursor, remaining, comms, work, .. } = self;
        match remaining {
            Counters::Dense(remaining) => {
                cursor.count_down(index, when, remaining, |index, op| release(index, op, comms, work, out));
            }
            Counters::Sparse(seen) => {
                let free = counters::count_up(cursor, index, when, seen);
                free.into_iter().for_each(|index| release(index, &cursor.op(index), comms, work, out));
            }
        }
    }

    /// Called when an operation of the program has finished.
    #[inline]
    fn ended(&mut self, index: u32, out: &mut Vec<Ready>) {
        self.satisfy(index, When::Finish, out);
        self.finished += 1;
    }

    /// Called when an operation of the collective at `place` has finished.
    fn ended_within(&mut self, place: usize, id: OpId, out: &mut Vec<Ready>) {
        let expansion = self.expansions[place].as_mut().expect("a collective under way");
        expansion.finish(id, out);
        if expansion.left == 0 {
            let parent = expansion.parent;
            self.put_aside(place);
            self.note(parent, true);
            self.ended(parent, out);
        }
    }

    /// Expands the collectives that can start.
    #[inline]
    fn settle(&mut self, out: &mut Vec<Ready>) {
        while let Some(id) = self.work.pop() {
            self.expand(id, out);
        }
    }

    fn note(&mut self, index: u32, has_ended: bool) {
        self.noted.iter_mut().for_each(|noted| noted.push(Noted { index, has_ended }));
    }

    /// Removes a collective that has ended. A small collective is stored for the next collective of the same form.
    fn put_aside(&mut self, place: usize) {
        let Some(ended) = self.expansions[place].take().filter(|ended| ended.ops.len() <= MOST_SPARE_OPS) else {
            return;
        };
        if self.spare.len() == MOST_SPARE {
            self.spare.remove(0);
        }
        self.spare.push(ended);
    }

    /// Returns the expansion of a collective that begins. Uses a stored collective of the same form, if there is one.
    fn expansion(&mut self, parent: u32, call: Op) -> Expansion {
        let form = Expansion::form(&call);
        if let Some(place) = self.spare.iter().rposition(|spare| Expansion::form(&spare.call) == form) {
            let mut spare = self.spare.remove(place);
            spare.remaining.copy_from_slice(spare.ops.predecessor_counts());
            spare.left = spare.ops.len();
            return Expansion { parent, call, ..spare };
        }
        Expansion::new(self.messages_of(&form), (parent, call), &self.comms)
    }

    /// Returns the messages and computations of this rank in a collective. Their tags contain 0 as the number of the
    /// collective.
    fn messages_of(&mut self, op: &Op) -> Arc<Ops> {
        let (size, me) = match usize::from(op.comm()).checked_sub(1) {
            None => (self.ranks, self.me),
            Some(place) => (self.comms[place].members.len() as u32, self.comms[place].me),
        };
        let sizes = self.cursor.sizes(op.sizes());
        self.rules.expand_shared(op, size, me, sizes.as_deref())
    }

    fn expand(&mut self, id: OpId, out: &mut Vec<Ready>) {
        let call = self.cursor.op(id.index());
        let expansion = self.expansion(id.index(), call);
        self.note(id.index(), false);
        self.satisfy(id.index(), When::Start, out);
        if expansion.ops.is_empty() {
            self.note(id.index(), true);
            return self.ended(id.index(), out);
        }
        let free = self.expansions.iter().position(Option::is_none);
        let place = free.unwrap_or_else(|| {
            self.expansions.push(None);
            self.expansions.len() - 1
        });
        let roots = expansion.ops.roots().iter();
        out.extend(roots.map(|&index| expansion.ready(OpId::new(place + 1, index))));
        self.expansions[place] = Some(expansion);
    }
}

/// Releases an operation of the program: appends a computation or message to `out` for the caller, and a collective to `collectives`.
#[inline]
fn release(index: u32, op: &Op, comms: &[Comm], collectives: &mut Vec<OpId>, out: &mut Vec<Ready>) {
    let id = OpId::new(0, index);
    match op.kind() {
        Kind::Compute | Kind::Send | Kind::Receive => {
            // the operation is copied directly into the list `out`: a copy through a local variable would take several more processor
            // instructions
            out.push(Ready { id, op: *op, context: 0 });
            if op.comm() != 0
                && let Some(last) = out.last_mut()
            {
                *last = last.within(comms);
            }
        }
        Kind::Collective(_) => collectives.push(id),
    }
}
