//! Divides paths into layers. In each layer, the paths form no cycle of dependencies. Each layer stores an order of its channels in which
//! every dependency leads to a later channel. If a new dependency leads to an earlier channel, the channels between its two ends get new
//! positions (D. J. Pearce, P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM J. Exp. Algorithmics
//! 11, 2006).

use std::collections::BTreeSet;

/// The dependencies between channels that the paths of one layer cause.
#[derive(Debug)]
struct Layer {
    /// For each channel: its position in the order.
    order: Vec<u32>,
    onward: Vec<Vec<u32>>,
    back: Vec<Vec<u32>>,
    paths: u64,
}

impl Layer {
    fn new(channels: usize) -> Self {
        Self {
            order: (0..channels as u32).collect(),
            onward: vec![Vec::new(); channels],
            back: vec![Vec::new(); channels],
            paths: 0,
        }
    }

    /// Adds the dependencies of a path to the layer, unless they would close a cycle. Returns true if the dependencies were added.
    fn add(&mut self, path: &[u32]) -> bool {
        let mut added: Vec<(u32, u32)> = Vec::new();
        for turn in path.windows(2) {
            let (from, to) = (turn[0], turn[1]);
            if self.onward[from as usize].contains(&to) {
                continue;
            }
            if !self.reorder(from, to) {
                for (from, to) in added.into_iter().rev() {
                    self.onward[from as usize].pop();
                    self.back[to as usize].pop();
                }
                return false;
            }
            self.onward[from as usize].push(to);
            self.back[to as usize].push(from);
            added.push((from, to));
        }
        self.paths += 1;
        true
    }

    /// Changes the order of the channels so that `from` is before `to`. Returns false if this is impossible, because a chain of
    /// dependencies already leads from `to` to `from`.
    fn reorder(&mut self, from: u32, to: u32) -> bool {
        let (last, first) = (self.order[from as usize], self.order[to as usize]);
        if last < first {
            return true;
        }
        let after = reached(to, &self.onward, |channel| self.order[channel as usize] <= last);
        if after.contains(&from) {
            return false;
        }
        let before = reached(from, &self.back, |channel| self.order[channel as usize] >= first);
        let in_order = |channels: BTreeSet<u32>| {
            let mut sorted: Vec<u32> = channels.into_iter().collect();
            sorted.sort_by_key(|&channel| self.order[channel as usize]);
            sorted
        };
        let moved = [in_order(before), in_order(after)].concat();
        let mut places: Vec<u32> = moved.iter().map(|&channel| self.order[channel as usize]).collect();
        places.sort_unstable();
        moved.iter().zip(places).for_each(|(&channel, place)| self.order[channel as usize] = place);
        true
    }
}

/// Channel `from`, and all channels that can be reached from it by dependencies over channels that `within` accepts.
fn reached(from: u32, next: &[Vec<u32>], within: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(channel) = open.pop() {
        for &other in next[channel as usize].iter().filter(|&&other| within(other)) {
            if seen.insert(other) {
                open.push(other);
            }
        }
    }
    seen
}

/// The layers that paths have needed so far.
#[derive(Debug)]
pub struct Layers {
    channels: usize,
    layers: Vec<Layer>,
}

impl Layers {
    pub fn new(channels: usize) -> Self {
        Self { channels, layers: Vec::new() }
    }

    pub fn count(&self) -> u8 {
        self.layers.len() as u8
    }

    /// Adds a path to the first layer in which it closes no cycle, and returns this layer. Returns `None` if the path would need a new
    /// layer, and there are already `most` layers.
    pub fn first_fit(&mut self, path: &[u32], most: u8) -> Option<u8> {
        if let Some(layer) = self.layers.iter_mut().position(|layer| layer.add(path)) {
            return Some(layer as u8);
        }
        if self.count() == most {
            return None;
        }
        let mut layer = Layer::new(self.channels);
        // in an empty layer, a path closes no cycle unless it visits a channel twice
        layer.add(path).then(|| self.layers.push(layer))?;
        Some(self.count() - 1)
    }

    /// Moves a path from `layer` to the layer with the fewest paths, if this layer has fewer paths and the path closes no cycle in it.
    /// Returns the layer in which the path then is. The old layer keeps the dependencies of the path, as if the path were still in it.
    pub fn moved(&mut self, path: &[u32], layer: u8) -> u8 {
        let fewest = (0..self.layers.len()).min_by_key(|&other| self.layers[other].paths);
        let Some(other) = fewest.filter(|&other| self.layers[other].paths + 1 < self.layers[usize::from(layer)].paths)
        else {
            return layer;
        };
        if !self.layers[other].add(path) {
            return layer;
        }
        self.layers[usize::from(layer)].paths -= 1;
        other as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests a ring of four channels. Three of its four dependencies fit into one layer, and the fourth one closes the cycle.
    #[test]
    fn a_path_that_closes_a_cycle_goes_to_the_next_layer() {
        let mut layers = Layers::new(4);
        for path in [[0, 1], [1, 2], [2, 3]] {
            assert_eq!(layers.first_fit(&path, 2), Some(0));
        }
        assert_eq!(layers.first_fit(&[3, 0], 1), None);
        assert_eq!(layers.first_fit(&[3, 0], 2), Some(1));
        // a refused path leaves no dependencies behind: the second layer still has only the dependency from channel 3 to channel 0
        assert_eq!(layers.first_fit(&[0, 2, 3, 0], 2), None);
        assert_eq!(layers.first_fit(&[0, 2], 1), Some(0));
        assert_eq!(layers.moved(&[0, 1], 0), 1);
    }

    /// Adds random dependencies. A layer must refuse exactly those for which a search over all dependencies finds a cycle.
    #[test]
    fn a_layer_accepts_what_a_search_finds_acyclic() {
        let channels = 12u32;
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32 % channels
        };
        let (mut layer, mut edges, mut refused) =
            (Layer::new(channels as usize), vec![Vec::new(); channels as usize], 0);
        for _ in 0..400 {
            let (from, to) = (random(), random());
            if from == to {
                continue;
            }
            let closes = reached(to, &edges, |_| true).contains(&from);
            assert_eq!(layer.add(&[from, to]), !closes, "{from} to {to}");
            if closes {
                refused += 1;
            } else {
                edges[from as usize].push(to);
            }
        }
        assert!(refused > 50, "{refused} cycles");
    }
}
