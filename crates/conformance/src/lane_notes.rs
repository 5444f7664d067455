//! A recording for tests: which VCs heads take on each channel between routers, and how many packets overtake others of their flow.

use weft_api::base::kept::Kept;
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Packet, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo,
};
use weft_units::Refusal;

/// Configuration of this recording, which has no parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneNotes {}

/// The recorder of this recording in one block.
#[derive(Debug, Kept)]
pub(super) struct Notes {
    /// Link class of each channel; `None` for a channel from a terminal.
    #[kept(fixed)]
    classes: Vec<Option<u8>>,
    /// For each channel, a mask of the VCs that heads have taken.
    vcs: Vec<u64>,
    #[kept(fixed)]
    terminals: u32,
    /// For each pair of source and destination, the number of the last delivered packet plus 1.
    last: Vec<u32>,
    overtaken: u64,
}

impl Recording for LaneNotes {
    const TABLE: TableInfo = TableInfo {
        meaning: "the VCs that packets used",
        rows: "A row per channel.",
        bounded: false,
        in_summary: false,
        columns: || {
            let column = |name| Heading::new(name, Kind::Count, "", "of the test");
            vec![column("class"), column("vcs"), column("overtaken")]
        },
    };
    const HEARS_DELIVERIES: bool = true;
    const HEARS_PATHS: bool = true;
    type Part = Notes;

    fn part(&self, network: &NetworkSite, block: &RecorderSite, _path: &str) -> Result<Notes, Refusal> {
        let classes = block.channels.iter().map(|channel| channel.router.map(|_| channel.class)).collect();
        let last = vec![0; network.terminals as usize * network.terminals as usize];
        let vcs = vec![0; block.channels.len()];
        Ok(Notes { classes, vcs, terminals: network.terminals, last, overtaken: 0 })
    }

    fn table(&self, parts: Vec<Notes>, _run: &Recorded) -> Table {
        let rows = || parts.iter().flat_map(|part| part.classes.iter().zip(&part.vcs).map(move |row| (part, row)));
        let between = || rows().filter_map(|(part, (class, vcs))| Some((part, (*class)?, *vcs)));
        let mut overtaken: Vec<u64> = between().map(|_| 0).collect();
        if let Some(first) = overtaken.first_mut() {
            *first = parts.iter().map(|part| part.overtaken).sum();
        }
        Table::whole([
            ("class", Column::Counts(between().map(|(_, class, _)| u64::from(class)).collect())),
            ("vcs", Column::Counts(between().map(|(_, _, vcs)| vcs).collect())),
            ("overtaken", Column::Counts(overtaken)),
        ])
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Recorder for Notes {
    fn delivered(&mut self, packet: &Packet, _at: u64, _inside: bool) {
        let last = &mut self.last[(packet.src * self.terminals + packet.dst) as usize];
        self.overtaken += u64::from(packet.seq < *last);
        *last = packet.seq + 1;
    }

    fn crosses(&mut self, channel: usize, vc: u8, _packet: &Packet) {
        self.vcs[channel] |= 1 << vc;
    }
}
