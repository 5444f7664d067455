//! The layout of a binary GOAL file.

use super::on_disk::Storage;
use crate::form::{Kind, Op, When};
use weft_units::Refusal;

/// The first 8 bytes of a valid file.
pub const COOKIE: u64 = 4223;
/// The first 8 bytes of a file that LogGOPSim has overwritten.
pub const SPOILT: u64 = 2342;
/// Number of bytes before the table of ranks.
pub const HEAD: usize = 14;
/// Number of bytes of a node.
pub const NODE: usize = 39;

/// The place of a rank's operations in a file, and their numbers.
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    /// Position in the file of the first byte of the rank.
    start: u64,
    pub nodes: u32,
    pub roots: u32,
    /// Number of entries of the rank's list of successors.
    entries: u64,
}

/// A node of the file. A node stores one operation.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    pub predecessors: u32,
    pub kind: u8,
    pub peer: u32,
    pub size: u64,
    pub tag: u32,
    pub cpu: u8,
    pub nic: u8,
    /// Operations that wait for the finish of this operation: their number, and the index of the first of them in the
    /// list of successors.
    pub after_finish: (u32, u32),
    /// Operations that wait for the start of this operation: their number, and the index of the first of them in the
    /// list of successors.
    pub after_start: (u32, u32),
}

/// Returns the refusal of a damaged file.
pub fn broken(file: &str, place: &str, what: String) -> Refusal {
    let path = if place.is_empty() { file.to_owned() } else { format!("{file}, {place}") };
    Refusal::new(path, what, "the file is cut off or damaged: copy or convert it again")
}

/// Reads bytes from a file. Returns a refusal if the bytes cannot be read.
pub fn read<const N: usize>(storage: &(impl Storage + ?Sized), at: u64) -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    storage.read_at(at, &mut bytes)?;
    Ok(bytes)
}

fn number(storage: &(impl Storage + ?Sized), at: u64) -> Result<u32, Refusal> {
    Ok(u32::from_le_bytes(read(storage, at)?))
}

/// Reads the positions of the ranks of a file. Refuses a file in which the position of a rank is beyond the end of the
/// file.
pub fn ranks(file: &str, storage: &(impl Storage + ?Sized)) -> Result<Vec<Rank>, Refusal> {
    let length = storage.length();
    if length < HEAD as u64 {
        return Err(broken(file, "", format!("the file has {length} bytes, but its header needs {HEAD}")));
    }
    let cookie = u64::from_le_bytes(read(storage, 0)?);
    if cookie == SPOILT {
        let what = "LogGOPSim has overwritten this file (it ran with --save-mem)";
        return Err(Refusal::new(file, what, "make the file again with txt2bin, or with weft trace convert"));
    }
    let count = number(storage, 8)?;
    if HEAD as u64 + 16 * u64::from(count) > length {
        let what = format!(
            "the table of {count} ranks needs {} bytes, but the file has only {length}",
            HEAD as u64 + 16 * u64::from(count)
        );
        return Err(broken(file, "", what));
    }
    if count == 0 {
        return Err(Refusal::new(file, "a program needs at least 1 rank", "write a file with at least 1 rank"));
    }
    (0..count).map(|rank| place_of(file, storage, rank)).collect()
}

fn place_of(file: &str, storage: &(impl Storage + ?Sized), rank: u32) -> Result<Rank, Refusal> {
    let place = format!("rank {rank}");
    let at = HEAD as u64 + 16 * u64::from(rank);
    let [start, end] = [at, at + 8].map(|at| read(storage, at).map(u64::from_le_bytes));
    let (start, end) = (start?, end?);
    let length = storage.length() - 8;
    if start > end || end > length || end - start < 8 {
        let what = format!("the table gives bytes {start} to {end} of {length}, which can't contain a rank");
        return Err(broken(file, &place, what));
    }
    let (nodes, roots) = (number(storage, start + 8)?, number(storage, start + 12)?);
    let fixed = 8 + 4 * u64::from(roots) + NODE as u64 * u64::from(nodes);
    match (end - start).checked_sub(fixed) {
        Some(rest) if rest % 4 == 0 => Ok(Rank { start: start + 8, nodes, roots, entries: rest / 4 }),
        _ => {
            let what = format!(
                "{nodes} operations and {roots} first operations need {fixed} bytes, but there are {}",
                end - start
            );
            Err(broken(file, &place, what))
        }
    }
}

impl Rank {
    fn nodes_at(&self) -> u64 {
        self.start + 8 + 4 * u64::from(self.roots)
    }

    /// Returns the position in the file of node `index`.
    pub fn node_at(&self, index: u32) -> u64 {
        self.nodes_at() + NODE as u64 * u64::from(index)
    }

    /// Returns the position in the file of an entry of the list of successors.
    pub fn entry_at(&self, entry: u64) -> u64 {
        self.node_at(self.nodes) + 4 * entry
    }

    pub fn root(&self, storage: &(impl Storage + ?Sized), place: u32) -> Result<u32, Refusal> {
        number(storage, self.start + 8 + 4 * u64::from(place))
    }

    pub fn node(&self, storage: &(impl Storage + ?Sized), index: u32) -> Result<Node, Refusal> {
        Ok(Node::from_bytes(&read(storage, self.node_at(index))?))
    }

    /// Returns the operations that wait for the start or the finish of a node.
    pub fn successors<'a, S: Storage + ?Sized>(
        &'a self,
        storage: &'a S,
        node: &Node,
        when: When,
    ) -> impl Iterator<Item = Result<u32, Refusal>> + 'a {
        let (count, first) = node.after(when);
        (0..count).map(move |place| number(storage, self.entry_at(u64::from(first) + u64::from(place))))
    }

    /// Refuses a rank with numbers that contradict each other.
    pub fn check(&self, file: &str, rank: usize, storage: &(impl Storage + ?Sized), ranks: u32) -> Result<(), Refusal> {
        let place = |op: u32| format!("rank {rank}, operation {op}");
        let (mut counted, mut edges) = (vec![0u32; self.nodes as usize], 0);
        for index in 0..self.nodes {
            let node = self.node(storage, index)?;
            if !(1..=3).contains(&node.kind) {
                return Err(broken(
                    file,
                    &place(index),
                    format!("the operation has kind {}, but kinds are 1 to 3", node.kind),
                ));
            }
            let may_be_any = node.kind == 2 && node.peer == u32::MAX;
            if node.kind != 3 && node.peer >= ranks && !may_be_any {
                let what = format!("the peer is rank {}, but the ranks are 0 to {}", node.peer, ranks - 1);
                return Err(broken(file, &place(index), what));
            }
            for when in [When::Finish, When::Start] {
                let (count, first) = node.after(when);
                edges += u64::from(count);
                // if an operation has no successors, the index `first` has no meaning
                let end = if count == 0 { 0 } else { u64::from(first) + u64::from(count) };
                if end.max(edges) > self.entries {
                    let what = format!(
                        "this and earlier operations have {edges} successors up to entry {end}, but the list has {} entries",
                        self.entries
                    );
                    return Err(broken(file, &place(index), what));
                }
                for later in self.successors(storage, &node, when) {
                    let later = later?;
                    match counted.get_mut(later as usize) {
                        Some(count) => *count += 1,
                        None => {
                            let what = format!(
                                "operation {later} waits for this one, but the rank has only {} operations",
                                self.nodes
                            );
                            return Err(broken(file, &place(index), what));
                        }
                    }
                }
            }
        }
        for index in 0..self.nodes {
            let (stored, counted) = (self.node(storage, index)?.predecessors, counted[index as usize]);
            if stored != counted {
                let what =
                    format!("the operation should wait for {stored} others, but {counted} dependencies lead to it");
                return Err(broken(file, &place(index), what));
            }
        }
        let free = counted.iter().filter(|&&count| count == 0).count();
        let mut known: Vec<u32> = (0..self.roots).map(|place| self.root(storage, place)).collect::<Result<_, _>>()?;
        known.sort_unstable();
        known.dedup();
        if known.len() != free || known.iter().any(|&root| counted.get(root as usize) != Some(&0)) {
            let what = format!("{} first operations are listed, but {free} operations wait for nothing", self.roots);
            return Err(broken(file, &format!("rank {rank}"), what));
        }
        Ok(())
    }
}

impl Node {
    pub fn after(&self, when: When) -> (u32, u32) {
        match when {
            When::Finish => self.after_finish,
            When::Start => self.after_start,
        }
    }

    /// Returns the operation that the node stores. The caller must have checked the kind of the operation.
    pub fn op(&self) -> Op {
        let kind = match self.kind {
            1 => Kind::Send,
            2 => Kind::Receive,
            _ => Kind::Compute,
        };
        let (peer, tag) = if kind == Kind::Compute { (0, 0) } else { (self.peer, self.tag) };
        Op::from_raw(kind, self.size, peer, tag).on(self.cpu, self.nic)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(NODE);
        bytes.extend(self.predecessors.to_le_bytes());
        bytes.push(self.kind);
        bytes.extend(self.peer.to_le_bytes());
        bytes.extend(self.size.to_le_bytes());
        bytes.extend(self.tag.to_le_bytes());
        bytes.extend([self.cpu, self.nic]);
        for (count, first) in [self.after_finish, self.after_start] {
            bytes.extend([count, first].into_iter().flat_map(u32::to_le_bytes));
        }
        bytes
    }

    pub fn from_bytes(bytes: &[u8; NODE]) -> Self {
        let four = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            predecessors: four(0),
            kind: bytes[4],
            peer: four(5),
            size: u64::from(four(9)) | u64::from(four(13)) << 32,
            tag: four(17),
            cpu: bytes[21],
            nic: bytes[22],
            after_finish: (four(23), four(27)),
            after_start: (four(31), four(35)),
        }
    }
}
