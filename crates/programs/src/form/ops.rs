//! The operations of a rank with their dependencies (`Ops`), and the draft to which operations are added before (`Draft`).

use super::op::{Kind, Op, When};
use std::sync::Arc;
use weft_units::prefetch::prefetch_first_line;

/// Operations in a partial order. Each operation stores its successors, which are the operations that wait for it. If the operations
/// of several ranks differ only in their communicators, the ranks share one `Ops`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ops {
    // the executor reads these three lists for each operation, so they are stored next to each other
    ops: Vec<Op>,
    /// Indices into `successors`. Each operation has two entries: the index of the first operation that waits for its finish, and of the
    /// first that waits for its start. The last entry is the number of edges.
    begins: Vec<u32>,
    successors: Vec<u32>,
    /// Number of edges that lead to each operation. An operation waits for as many events as edges lead to it.
    predecessors: Vec<u32>,
    roots: Vec<u32>,
    sizes: Vec<Arc<[u64]>>,
    /// Mean number of edges that lead to an operation, times 2^16. A prefetch multiplies with this value to estimate a place in
    /// `successors`.
    mean_edges: u32,
    has_collectives: bool,
    /// Highest number of a processor, and highest number of a network interface.
    highest: (u8, u8),
}

impl Ops {
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns operation `index`. The operation must exist.
    pub fn op(&self, index: u32) -> Op {
        self.ops[index as usize]
    }

    /// Prefetches operation `index` and the indices of its successors.
    #[inline]
    pub(super) fn bring(&self, index: u32) {
        prefetch_first_line(&self.ops, index as usize);
        prefetch_first_line(&self.begins, 2 * index as usize);
        prefetch_first_line(&self.successors, ((u64::from(index) * u64::from(self.mean_edges)) >> 16) as usize);
    }

    /// Number of edges that lead to operation `index`.
    pub fn predecessors(&self, index: u32) -> u32 {
        self.predecessors[index as usize]
    }

    /// True if some operation is a collective.
    pub fn has_collectives(&self) -> bool {
        self.has_collectives
    }

    /// Highest number of a processor, and highest number of a network interface; 0 without operations.
    pub(super) fn highest_resources(&self) -> (u8, u8) {
        self.highest
    }

    /// Number of predecessors of each operation.
    pub fn predecessor_counts(&self) -> &[u32] {
        &self.predecessors
    }

    /// Returns the operations that wait for the start or the finish of `index`, in the order in which the edges were
    /// added.
    pub fn successors(&self, index: u32, when: When) -> &[u32] {
        let slot = 2 * index as usize + usize::from(when == When::Start);
        &self.successors[self.begins[slot] as usize..self.begins[slot + 1] as usize]
    }

    /// Returns the operations without predecessors, in the order of the operations.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    pub fn edges(&self) -> usize {
        self.successors.len()
    }

    /// Returns the sizes of the blocks of a collective \[bytes\], by the number from [`Op::sizes`]; `None` for 0.
    pub fn sizes(&self, list: u16) -> Option<&Arc<[u64]>> {
        self.sizes.get(usize::from(list).checked_sub(1)?)
    }

    /// All lists of block sizes.
    pub(crate) fn size_lists(&self) -> &[Arc<[u64]>] {
        &self.sizes
    }

    /// Returns a draft with the same operations and edges.
    pub fn draft(&self) -> Draft {
        let mut draft = Draft { ops: self.ops.clone(), edges: Vec::new(), sizes: self.sizes.clone() };
        for earlier in 0..self.ops.len() as u32 {
            for when in [When::Finish, When::Start] {
                draft.edges.extend(self.successors(earlier, when).iter().map(|&later| (later, earlier, when)));
            }
        }
        draft
    }
}

/// Operations and edges to which more can be added.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    ops: Vec<Op>,
    /// The edges. Each has a later operation, an earlier operation, and the event of the earlier operation that
    /// releases the later one.
    edges: Vec<(u32, u32, When)>,
    sizes: Vec<Arc<[u64]>>,
}

impl Draft {
    pub fn len(&self) -> u32 {
        self.ops.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The operations added so far.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Replaces operation `index` by `op`. The operation must exist. The edges of the operation stay.
    pub fn replace(&mut self, index: u32, op: Op) {
        self.ops[index as usize] = op;
    }

    /// Appends an operation and returns its number.
    pub fn add(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.len() - 1
    }

    /// Adds an edge: operation `later` waits for operation `earlier`.
    pub fn depend(&mut self, later: u32, earlier: u32, when: When) {
        self.edges.push((later, earlier, when));
    }

    /// Stores a list of block sizes \[bytes\] and returns its number. Equal lists are stored once. Returns `None` if there are already
    /// 65,535 lists.
    pub fn keep_sizes(&mut self, sizes: &[u64]) -> Option<u16> {
        let known = self.sizes.iter().position(|known| **known == *sizes);
        let place = known.unwrap_or_else(|| {
            self.sizes.push(sizes.into());
            self.sizes.len() - 1
        });
        u16::try_from(place + 1).ok()
    }

    /// Stores a list of block sizes \[bytes\] without a copy, and returns its number. Returns `None` if there are already 65,535 lists.
    /// The caller must not store equal lists twice.
    pub fn keep_shared(&mut self, sizes: &Arc<[u64]>) -> Option<u16> {
        self.sizes.push(Arc::clone(sizes));
        u16::try_from(self.sizes.len()).ok()
    }

    /// Returns the operations as a partial order. If the edges form a cycle, returns an operation on the cycle as the
    /// error.
    pub fn finish(self) -> Result<Ops, u32> {
        let ops = self.unchecked();
        match ops.on_a_cycle() {
            None => Ok(ops),
            Some(op) => Err(op),
        }
    }

    /// Returns the operations as a partial order, without a check. The caller must know that the edges form no cycle.
    pub(crate) fn unchecked(self) -> Ops {
        let Self { ops, edges, sizes } = self;
        let slot = |earlier: u32, when: When| 2 * earlier as usize + usize::from(when == When::Start);
        let mut begins = vec![0u32; 2 * ops.len() + 1];
        let mut predecessors = vec![0u32; ops.len()];
        for &(later, earlier, when) in &edges {
            begins[slot(earlier, when) + 1] += 1;
            predecessors[later as usize] += 1;
        }
        for place in 1..begins.len() {
            begins[place] += begins[place - 1];
        }
        let mut next = begins.clone();
        let mut successors = vec![0u32; edges.len()];
        for &(later, earlier, when) in &edges {
            let place = &mut next[slot(earlier, when)];
            successors[*place as usize] = later;
            *place += 1;
        }
        let roots = (0..ops.len() as u32).filter(|&op| predecessors[op as usize] == 0).collect();
        let mean_edges = ((successors.len() << 16) / ops.len().max(1)).try_into().unwrap_or(u32::MAX);
        let has_collectives = ops.iter().any(|op| match op.kind() {
            Kind::Collective(_) => true,
            Kind::Compute | Kind::Send | Kind::Receive => false,
        });
        let highest = ops.iter().fold((0, 0), |most, op| (most.0.max(op.cpu()), most.1.max(op.nic())));
        Ops { ops, predecessors, begins, successors, roots, sizes, mean_edges, has_collectives, highest }
    }
}

impl Ops {
    /// Returns an operation on a cycle of edges, if there is a cycle.
    fn on_a_cycle(&self) -> Option<u32> {
        let mut left = self.predecessors.clone();
        let mut free = self.roots.clone();
        let mut released = 0;
        while let Some(op) = free.pop() {
            released += 1;
            let slot = 2 * op as usize;
            for &later in &self.successors[self.begins[slot] as usize..self.begins[slot + 2] as usize] {
                left[later as usize] -= 1;
                if left[later as usize] == 0 {
                    free.push(later);
                }
            }
        }
        if released == self.ops.len() {
            return None;
        }
        // each remaining operation waits for another remaining operation, so a walk to predecessors enters a cycle
        let mut earlier = vec![u32::MAX; self.ops.len()];
        for op in (0..self.ops.len() as u32).filter(|&op| left[op as usize] > 0) {
            let slot = 2 * op as usize;
            for &later in &self.successors[self.begins[slot] as usize..self.begins[slot + 2] as usize] {
                earlier[later as usize] = op;
            }
        }
        let mut at = (0..self.ops.len() as u32).find(|&op| left[op as usize] > 0)?;
        for _ in 0..self.ops.len() {
            at = earlier[at as usize];
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_come_in_the_order_of_their_edges() {
        let mut draft = Draft::default();
        let ops: Vec<u32> = (0..4).map(|k| draft.add(Op::compute(k))).collect();
        draft.depend(ops[3], ops[0], When::Finish);
        draft.depend(ops[1], ops[0], When::Start);
        draft.depend(ops[2], ops[0], When::Finish);
        let done = draft.finish().unwrap();
        assert_eq!(done.successors(0, When::Finish), [3, 2]);
        assert_eq!(done.successors(0, When::Start), [1]);
        assert_eq!((done.roots(), done.predecessors(3)), (&[0][..], 1));
        assert_eq!(done.draft().finish().unwrap(), done);
    }

    #[test]
    fn a_cycle_is_found_and_an_operation_behind_it_is_not_blamed() {
        let mut draft = Draft::default();
        let ops: Vec<u32> = (0..4).map(|_| draft.add(Op::compute(1))).collect();
        draft.depend(ops[1], ops[2], When::Finish);
        draft.depend(ops[2], ops[1], When::Start);
        draft.depend(ops[0], ops[1], When::Finish);
        assert!([1, 2].contains(&draft.finish().unwrap_err()));
    }
}
