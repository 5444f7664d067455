//! Path diversity: the number of shortest paths between two different routers that have terminals.

use crate::Graph;

/// Maximum number of steps along links for a complete count. If a complete count would take more steps, paths are counted only from a
/// sample of the sources.
const MOST_STEPS: u64 = 1 << 31;

/// Statistics of the number of shortest paths, over all ordered pairs of different routers that have terminals and the same distance from
/// each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathsAtDistance {
    pub pairs: u64,
    /// Number of paths of the pair with the fewest paths.
    pub fewest: f64,
    /// Sum of the numbers of paths of all pairs.
    pub sum: f64,
    /// Number of paths of the pair with the most paths.
    pub most: f64,
    /// Number of pairs that have only one shortest path.
    pub single: u64,
}

/// Statistics of the number of shortest paths for each distance.
#[derive(Debug, Clone, PartialEq)]
pub struct PathDiversity {
    /// Index d describes pairs that are d links apart; index 0 is unused.
    pub by_distance: Vec<PathsAtDistance>,
    /// Number of routers from which paths were counted, spread evenly over the routers with terminals. The next field is the number of all
    /// routers with terminals.
    pub sources: u32,
    pub of_sources: u32,
}

impl PathDiversity {
    /// Converts the result for one plane to `planes` planes. Paths never lead from one plane to another.
    fn times(mut self, planes: u32) -> Self {
        for at in &mut self.by_distance {
            (at.pairs, at.sum) = (at.pairs * u64::from(planes), at.sum * f64::from(planes));
            at.single *= u64::from(planes);
        }
        (self.sources, self.of_sources) = (self.sources * planes, self.of_sources * planes);
        self
    }
}

const NONE: PathsAtDistance = PathsAtDistance { pairs: 0, fewest: f64::INFINITY, sum: 0.0, most: 0.0, single: 0 };

impl PathsAtDistance {
    fn add(&mut self, paths: f64) {
        self.pairs += 1;
        self.fewest = self.fewest.min(paths);
        self.most = self.most.max(paths);
        self.sum += paths;
        self.single += u64::from(paths == 1.0);
    }
}

impl Graph {
    /// Counts the shortest paths between routers with terminals, by a breadth-first search from each of these routers. If a complete count
    /// would take too long, the searches start only from an even sample of the routers. A trunk of w links counts as w paths. Counts are
    /// exact up to 2^53.
    pub fn path_diversity(&self) -> PathDiversity {
        if self.planes() > 1 {
            return self.plane().path_diversity().times(self.planes());
        }
        let with_terminals: Vec<u32> = (0..self.routers()).filter(|&router| self.terminals_of(router) > 0).collect();
        let steps_each = u64::from(self.port_base(self.routers())).max(1);
        let most = (MOST_STEPS / steps_each).max(1) as usize;
        let stride = with_terminals.len().div_ceil(most).max(1);
        let mut search = Paths::new(self);
        let mut by_distance = vec![NONE];
        let sources: Vec<u32> = with_terminals.iter().copied().step_by(stride).collect();
        for &source in &sources {
            search.run(source);
            for &router in with_terminals.iter().filter(|&&router| router != source) {
                let distance = search.distance[router as usize] as usize;
                by_distance.resize(by_distance.len().max(distance + 1), NONE);
                by_distance[distance].add(search.paths[router as usize]);
            }
        }
        PathDiversity { by_distance, sources: sources.len() as u32, of_sources: with_terminals.len() as u32 }
    }
}

/// State of a breadth-first search that counts shortest paths.
struct Paths<'a> {
    graph: &'a Graph,
    distance: Vec<u32>,
    paths: Vec<f64>,
    queue: Vec<u32>,
}

impl<'a> Paths<'a> {
    fn new(graph: &'a Graph) -> Self {
        let routers = graph.routers() as usize;
        Self { graph, distance: vec![0; routers], paths: vec![0.0; routers], queue: Vec::with_capacity(routers) }
    }

    fn run(&mut self, source: u32) {
        self.distance.fill(u32::MAX);
        self.paths.fill(0.0);
        self.queue.clear();
        self.queue.push(source);
        self.distance[source as usize] = 0;
        self.paths[source as usize] = 1.0;
        let mut next = 0;
        while let Some(&near) = self.queue.get(next) {
            next += 1;
            let further = self.distance[near as usize] + 1;
            for far in self.graph.neighbours(near) {
                let at = far as usize;
                if self.distance[at] == u32::MAX {
                    self.distance[at] = further;
                    self.queue.push(far);
                }
                if self.distance[at] == further {
                    self.paths[at] += self.paths[near as usize];
                }
            }
        }
    }
}
