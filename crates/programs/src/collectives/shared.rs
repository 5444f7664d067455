//! Lists of the messages of collectives, which several ranks share. In two communicators of the same size, ranks with the same
//! number have the same list, because peers in the list are numbers within the communicator. A shared list of these messages needs
//! less memory and cache.

use crate::form::{Op, Ops};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Key of a list: a collective without its number and communicator, the size of the communicator, and the number of the rank in the
/// communicator.
type Form = (Op, u32, u32);

/// The stored lists of messages. A list exists only while a rank uses it.
#[derive(Debug, Clone, Default)]
pub struct Shared(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    messages: HashMap<Form, Weak<Ops>>,
    /// Number of entries that remained when unused entries were last removed.
    used: usize,
}

/// Unused entries are removed only if there are at least this many entries.
const FEW: usize = 1024;

impl Shared {
    /// Returns the messages of rank `me` in a communicator of `ranks` ranks. All blocks must have the same size. The function calls
    /// `expand` to create the messages if they are not stored.
    pub fn of(&self, op: &Op, (ranks, me): (u32, u32), expand: impl FnOnce() -> Ops) -> Arc<Ops> {
        let form = (op.tagged(0).within(0), ranks, me);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(messages) = known.messages.get(&form).and_then(Weak::upgrade) {
            return messages;
        }
        if known.messages.len() >= FEW.max(2 * known.used) {
            known.messages.retain(|_, messages| messages.strong_count() > 0);
            known.used = known.messages.len();
        }
        let messages = Arc::new(expand());
        known.messages.insert(form, Arc::downgrade(&messages));
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Draft, Operation};

    fn messages(bytes: u64) -> Ops {
        let mut draft = Draft::default();
        draft.add(Op::send(1, bytes, None));
        draft.finish().unwrap()
    }

    fn call(bytes: u64, instance: u32) -> Op {
        Op::collective(Operation::AllReduce, 0, bytes, instance)
    }

    #[test]
    fn ranks_of_one_number_share_messages_in_all_communicators_and_collectives_of_a_form() {
        let shared = Shared::default();
        let first = shared.of(&call(8, 3), (4, 1), || messages(8));
        let again = shared.of(&call(8, 5).within(2), (4, 1), || unreachable!("they are known"));
        assert!(Arc::ptr_eq(&first, &again));
        for (op, place) in [(call(9, 3), (4, 1)), (call(8, 3), (5, 1)), (call(8, 3), (4, 2))] {
            assert!(!Arc::ptr_eq(&first, &shared.of(&op, place, || messages(8))), "{op:?} at {place:?}");
        }
    }

    #[test]
    fn messages_that_no_rank_uses_take_no_memory() {
        let shared = Shared::default();
        let kept: Vec<_> = (0..10).map(|bytes| shared.of(&call(bytes, 0), (4, 1), || messages(bytes))).collect();
        (10..10 * FEW as u64).for_each(|bytes| drop(shared.of(&call(bytes, 0), (4, 1), || messages(bytes))));
        assert!(shared.0.lock().unwrap().messages.len() <= FEW);
        for (bytes, kept) in (0..).zip(&kept) {
            assert!(Arc::ptr_eq(kept, &shared.of(&call(bytes, 1), (4, 1), || unreachable!("it is in use"))));
        }
    }
}
