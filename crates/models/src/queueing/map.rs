//! A table in the scenario determines the queue of a packet by its destination. The table can have separate rows for groups of sources or
//! for input ports.
//!
//! # Source
//! The tables that map service levels to virtual lanes in InfiniBand, by input and output (InfiniBand Architecture Specification, volume 1,
//! section 7.6.6). In Weft, a table has an entry for each destination.
//! # Parameters
//! `lanes`: the rows of the table. Each row has one number per terminal: the queue of packets to this terminal. `rows`: rule that selects
//! the row for a packet. `one`: the table has one row. `source_group`: with R rows and N terminals, packets from terminal s use row floor(s
//! R / N). `input`: the row is the index of the input port that the packet enters, modulo the number of rows.
//! # Guarantees
//! The queue of a packet is exactly the number in the table.
//! # Not modelled
//! Tables that change during a run.
//! # Validation
//! `engine/tests/queueing.rs` checks that a table with the destinations modulo 4 gives the same results as `dbbm`.
//! `conformance/src/queueing.rs` checks that lanes (see `mod.rs`) are valid, and that packets of a flow stay in order. It also checks that
//! the network does not stall.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{Crossing, QueueingModel, Scheme};
use weft_topology::{Graph, Peer};
use weft_units::Refusal;

/// A table of queues by destination. It can have separate rows for groups of sources or for input ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// The rows of the table. Each row has one number per terminal: the queue (from 0) of packets to this terminal.
    pub lanes: Vec<Vec<u8>>,
    /// Rule that selects the row for a packet.
    #[serde(default)]
    pub rows: Rows,
}

/// Rule that selects the row of the table for a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rows {
    /// The table has one row.
    #[default]
    One,
    /// Each row is for a range of consecutive sources: with R rows and N terminals, packets from terminal s use row floor(s R / N).
    SourceGroup,
    /// The row is the index of the input port that the packet enters, modulo the number of rows.
    Input,
}

impl Map {
    fn check(&self, terminals: u32) -> Result<(), Refusal> {
        let path = "queueing.map.lanes";
        if self.lanes.is_empty() {
            let help = format!("write a row of {terminals} numbers, one per terminal");
            return Err(Refusal::new(path, "there is no row", help));
        }
        if self.rows == Rows::One && self.lanes.len() > 1 {
            let what = format!("there are {} rows, but `rows: one` allows only one", self.lanes.len());
            return Err(Refusal::new(path, what, "write `rows: source_group` or `rows: input`, or only one row"));
        }
        match self.lanes.iter().position(|row| row.len() != terminals as usize) {
            None => Ok(()),
            Some(row) => {
                let what =
                    format!("row {row} has {} numbers, but there are {terminals} terminals", self.lanes[row].len());
                Err(Refusal::new(path, what, format!("write {terminals} numbers, one per terminal")))
            }
        }
    }
}

impl QueueingModel for Map {
    fn networks(&self) -> &'static str {
        "networks with one terminal for each number of a row"
    }

    fn fits(&self, graph: &Graph) -> bool {
        self.check(graph.terminals()).is_ok()
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.lanes.iter().flatten().max().map_or(1, |&most| u32::from(most) + 1)
    }

    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        self.check(graph.terminals())?;
        let base: Vec<u32> = (0..=graph.routers()).map(|router| graph.port_base(router)).collect();
        let input = |port: &weft_topology::Port| match port.peer {
            Peer::Router { port, .. } => port,
            Peer::Terminal(_) | Peer::Unused => 0,
        };
        let inputs = (0..graph.routers()).flat_map(|router| graph.ports(router).iter().map(input)).collect();
        let terminals = (0..graph.terminals()).map(|terminal| graph.terminal_at(terminal).1).collect();
        Ok(Arc::new(Table { map: self.clone(), queues: self.queues(graph), base, inputs, terminals }))
    }

    fn examples() -> Vec<Self> {
        let row = |queues: u8| (0..16u8).map(|terminal| terminal / 2 % queues).collect();
        vec![
            Self { lanes: vec![row(4)], rows: Rows::One },
            Self { lanes: vec![row(2), row(3)], rows: Rows::SourceGroup },
            Self { lanes: vec![row(2), row(3)], rows: Rows::Input },
            Self { lanes: vec![vec![0; 16]], rows: Rows::One },
        ]
    }
}

#[derive(Debug)]
struct Table {
    map: Map,
    queues: u32,
    /// For each router: index of its first port in `inputs`.
    base: Vec<u32>,
    /// For each output port: the input port of the next router to which it leads.
    inputs: Vec<u16>,
    /// For each terminal: the number of its port at its router.
    terminals: Vec<u16>,
}

impl Scheme for Table {
    fn lanes(&self) -> u32 {
        self.queues
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        let rows = self.map.lanes.len();
        let row = match self.map.rows {
            Rows::One => 0,
            Rows::SourceGroup => crossing.src as usize * rows / self.terminals.len(),
            Rows::Input => {
                let input = match crossing.from {
                    Some((router, port)) => self.inputs[self.base[router as usize] as usize + usize::from(port)],
                    None => self.terminals[crossing.src as usize],
                };
                usize::from(input) % rows
            }
        };
        u32::from(self.map.lanes[row][crossing.dst as usize])
    }

    fn looks_at_sources(&self) -> bool {
        // the input port of a packet from a terminal is the port of its source, so the row depends on the source
        self.map.rows != Rows::One
    }
}
