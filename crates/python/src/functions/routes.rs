//! A table of the hops that a Python routing function allows.

use weft_api::routing::Hop;
use weft_topology::Graph;
use weft_units::Refusal;

/// A row of the table as Python returns it: the router, the destination router, the VC class of the last hop plus 1, and the possible hops.
/// A hop consists of a port, a VC class and a rank.
pub type Row = (u32, u32, u8, Vec<(u16, u8, u32)>);

/// Maximum size of the table \[bytes\].
const MAX_BYTES: u64 = 1 << 30;

/// The hops, indexed by router, destination router and VC class of the last hop.
#[derive(Debug)]
pub struct Routes {
    /// For each port of each router, the router to which it leads.
    peers: Vec<Vec<Option<u32>>>,
    /// For each router with terminals, its index among the routers with terminals.
    rows: Vec<Option<u32>>,
    /// Number of VC classes plus 1: a packet that was just injected has no VC class.
    lanes: usize,
    /// For each entry, the index at which its hops end; its hops begin at the end of the previous entry.
    ends: Vec<u32>,
    hops: Vec<(Hop, u32)>,
}

impl Routes {
    /// Size [bytes] of the smallest possible table: one VC class, and one hop per router and destination.
    pub fn least_bytes(graph: &Graph) -> u64 {
        let hosts = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).count() as u64;
        hosts * u64::from(graph.routers()) * (2 * 4 + size_of::<(Hop, u32)>() as u64)
    }

    pub fn new(peers: Vec<Vec<Option<u32>>>, hosts: &[u32], rows: &[Row]) -> Result<Self, Refusal> {
        let classes = rows.iter().flat_map(|row| row.3.iter().map(|hop| hop.1)).max().unwrap_or(0) + 1;
        let lanes = usize::from(classes) + 1;
        let places = peers.len() * hosts.len() * lanes;
        let bytes = (places * 4 + rows.iter().map(|row| row.3.len() * size_of::<(Hop, u32)>()).sum::<usize>()) as u64;
        if bytes > MAX_BYTES {
            let what = format!("the routing table needs {bytes} bytes, but the limit is {MAX_BYTES}");
            return Err(Refusal::new(
                super::routing::PATH,
                what,
                "use a smaller network, or write the routing in Rust",
            ));
        }
        let mut of_routers = vec![None; peers.len()];
        hosts.iter().zip(0..).for_each(|(&host, row)| of_routers[host as usize] = Some(row));
        let mut table = Self { peers, rows: of_routers, lanes, ends: vec![0; places], hops: Vec::new() };
        let mut placed: Vec<(usize, &Row)> = rows.iter().map(|row| (table.place(row.0, row.1, row.2), row)).collect();
        placed.sort_unstable_by_key(|&(place, _)| place);
        let mut next = placed.into_iter().peekable();
        for place in 0..places {
            if let Some((_, (.., hops))) = next.next_if(|&(own, _)| own == place) {
                table.hops.extend(hops.iter().map(|&(port, class, rank)| (Hop { port, class }, rank)));
            }
            table.ends[place] = table.hops.len() as u32;
        }
        Ok(table)
    }

    /// Number of VC classes that the table uses.
    pub fn classes(&self) -> u8 {
        self.lanes as u8 - 1
    }

    /// Number of ports of a router.
    pub fn ports(&self, router: u32) -> u16 {
        self.peers[router as usize].len() as u16
    }

    fn place(&self, router: u32, dest: u32, lane: u8) -> usize {
        let row = self.rows[dest as usize].unwrap_or(0) as usize;
        (row * self.peers.len() + router as usize) * self.lanes + usize::from(lane)
    }

    /// The possible hops of a packet, in the order of their cost rank; empty for a state that no packet reaches.
    pub fn hops(&self, router: u32, dest: u32, lane: u8) -> &[(Hop, u32)] {
        let place = self.place(router, dest, lane);
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.hops[start as usize..self.ends[place] as usize]
    }

    /// True if a packet has several possible hops in at least one state.
    pub fn has_choices(&self) -> bool {
        std::iter::once(&0).chain(&self.ends).zip(&self.ends).any(|(start, end)| end - start > 1)
    }

    /// Calls `turn` with every turn that packets can take: router, hop, and hop at the next router.
    pub fn every_turn(&self, turn: &mut dyn FnMut(u32, Hop, Hop)) {
        let hosts = (0..self.peers.len() as u32).filter(|&router| self.rows[router as usize].is_some());
        for dest in hosts {
            for (router, peers) in (0..).zip(&self.peers) {
                for &(hop, _) in (0..self.lanes).flat_map(|lane| self.hops(router, dest, lane as u8)) {
                    let Some(next) = peers[usize::from(hop.port)].filter(|&next| next != dest) else { continue };
                    for &(onward, _) in self.hops(next, dest, hop.class + 1) {
                        turn(router, hop, onward);
                    }
                }
            }
        }
    }
}
