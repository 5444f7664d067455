//! Searches for a closed path that visits every router of a network once. The search extends a path by rotations and extensions (L. Posa,
//! "Hamiltonian circuits in random graphs", Discrete Mathematics 14, 1976). In each step it appends a router that the path does not contain
//! yet. If the end of the path has no such neighbour, all neighbours of the end are on the path. The search chooses one of them, and
//! reverses the part of the path after this neighbour. The path then has another end, from which the search continues. The search finds
//! rings in dense networks. If it finds no ring, a ring can still exist. The search uses a fixed pseudorandom sequence, so the same network
//! always gets the same ring.

/// For every router, its neighbours over links that no ring uses yet.
pub(super) struct Neighbours {
    of: Vec<Vec<u32>>,
    state: u64,
}

/// Maximum number of routers that a search moves in total when it reverses parts of paths. A search of this length takes some seconds.
const MOST_MOVES: u64 = 1 << 27;

/// Maximum number of steps of a search, per router of the network.
const CHOICES_PER_ROUTER: u64 = 200;

impl Neighbours {
    /// Stores the neighbours of each router; `all` lists the routers in order.
    pub(super) fn of<N: IntoIterator<Item = u32>>(all: impl Iterator<Item = N>) -> Self {
        let each = |neighbours: N| {
            let mut neighbours: Vec<u32> = neighbours.into_iter().collect();
            neighbours.sort_unstable();
            neighbours.dedup();
            neighbours
        };
        Self { of: all.map(each).collect(), state: 0x9e37_79b9_7f4a_7c15 }
    }

    /// Removes the links of a ring, so that later rings do not use them.
    pub(super) fn remove(&mut self, order: &[u32]) {
        for (place, &router) in order.iter().enumerate() {
            let next = order[(place + 1) % order.len()];
            self.of[router as usize].retain(|&other| other != next);
            self.of[next as usize].retain(|&other| other != router);
        }
    }

    /// Searches for a closed path through all routers; returns it with router 0 first.
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
            // chooses the neighbour with the fewest remaining neighbours, because otherwise the path might not reach it later
            let ways =
                |router: &u32| self.of[*router as usize].iter().filter(|&&o| place[o as usize] == usize::MAX).count();
            if let Some(new) = new.min_by_key(ways) {
                place[new as usize] = path.len();
                path.push(new);
                continue;
            }
            let turn = self.random(self.of[end].len())?;
            let at = place[self.of[end][turn] as usize];
            // if the neighbour is the router directly before the end, the link to it is already on the path, so the whole path is reversed
            // instead
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

    /// A pseudorandom number below `count`; `None` if `count` is 0 (xorshift, G. Marsaglia 2003).
    fn random(&mut self, count: usize) -> Option<usize> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((self.state >> 16) as usize).checked_rem(count)
    }
}
