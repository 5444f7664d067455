//! A search for a way round a network that visits every router once, by rotations and extensions (L. Posa, "Hamiltonian
//! circuits in random graphs", Discrete Mathematics 14, 1976): a path grows by a router that it does not visit yet; where
//! its end has no such neighbour, the part of the path behind one of its neighbours is turned round, which gives the path
//! another end. It finds rings in dense networks; where it finds none there may still be one. Its choices are a fixed
//! pseudorandom sequence, so that a network always gets the same ring.

/// The neighbours of every router over links that no ring has taken yet.
pub(super) struct Neighbours {
    of: Vec<Vec<u32>>,
    state: u64,
}

/// Most routers that a search may move while it turns parts of paths: some seconds.
const MOST_MOVES: u64 = 1 << 27;

/// Most choices for each router of the network.
const CHOICES_PER_ROUTER: u64 = 200;

impl Neighbours {
    /// The neighbours of each router in turn.
    pub(super) fn of<N: IntoIterator<Item = u32>>(all: impl Iterator<Item = N>) -> Self {
        let each = |neighbours: N| {
            let mut neighbours: Vec<u32> = neighbours.into_iter().collect();
            neighbours.sort_unstable();
            neighbours.dedup();
            neighbours
        };
        Self { of: all.map(each).collect(), state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Takes away the links of a ring.
    pub(super) fn remove(&mut self, order: &[u32]) {
        for (place, &router) in order.iter().enumerate() {
            let next = order[(place + 1) % order.len()];
            self.of[router as usize].retain(|&other| other != next);
            self.of[next as usize].retain(|&other| other != router);
        }
    }

    /// A way round all routers, router 0 first, if the search finds one.
    pub(super) fn ring(&mut self) -> Option<Vec<u32>> {
        let routers = self.of.len();
        let (mut path, mut place) = (vec![0u32], vec![usize::MAX; routers]);
        place[0] = 0;
        let mut moves = 0;
        for _ in 0..CHOICES_PER_ROUTER * routers as u64 {
            let end = path[path.len() - 1] as usize;
            if path.len() == routers && self.of[end].contains(&path[0]) {
                path.rotate_left(place[0]);
                return Some(path);
            }
            let new = self.of[end].iter().copied().filter(|&router| place[router as usize] == usize::MAX);
            // the router with the fewest ways on, or it may be left out
            let ways =
                |router: &u32| self.of[*router as usize].iter().filter(|&&o| place[o as usize] == usize::MAX).count();
            if let Some(new) = new.min_by_key(ways) {
                place[new as usize] = path.len();
                path.push(new);
                continue;
            }
            let turn = self.random(self.of[end].len())?;
            let at = place[self.of[end][turn] as usize];
            // the link to the router before the end is on the path already: then the path is turned as a whole
            let from = if at + 2 == path.len() { 0 } else { at + 1 };
            path[from..].reverse();
            (from..path.len()).for_each(|k| place[path[k] as usize] = k);
            moves += (path.len() - from) as u64;
            if moves > MOST_MOVES {
                return None;
            }
        }
        None
    }

    /// A number below `count`, unless this is 0 (xorshift, G. Marsaglia 2003).
    fn random(&mut self, count: usize) -> Option<usize> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((self.state >> 16) as usize).checked_rem(count)
    }
}
