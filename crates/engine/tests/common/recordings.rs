//! Reads the tables that a run has recorded as rows.

use weft_engine::power::{LinkState, Modes};
use weft_engine::recording::{Column, RecordingConfig, Table};
use weft_engine::{Outcome, Spec};

/// Adds the recordings that `json` describes. A recording replaces an earlier one of the same name.
pub fn record(spec: &mut Spec, json: &str) {
    let asked = serde_json::from_str::<RecordingConfig>(json).expect("a recording").asked();
    spec.recordings.retain(|other| other.name != asked.name);
    spec.recordings.push(asked);
}

/// Adds a recording of at most `most` spans of link states.
pub fn record_link_states(spec: &mut Spec, most: usize) {
    record(spec, &format!(r#"{{"link_states": {{"max_spans": {most}}}}}"#));
}

/// Adds a recording of at most `most` control packets.
pub fn record_control_packets(spec: &mut Spec, most: usize) {
    record(spec, &format!(r#"{{"control_packets": {{"max_packets": {most}}}}}"#));
}

/// The table of the recording with this name.
#[track_caller]
pub fn table<'a>(out: &'a Outcome, name: &str) -> &'a Table {
    &out.recorded.iter().find(|(own, _)| *own == name).expect("recorded").1
}

/// The cells of the column `name` as numbers; `None` for an empty cell.
#[track_caller]
pub fn numbers_in(table: &Table, name: &str) -> Vec<Option<u64>> {
    match table.column(name).expect("the column") {
        Column::Counts(cells) => cells.iter().map(|&cell| Some(cell)).collect(),
        Column::MaybeCounts(cells) => cells.clone(),
        Column::MaybeNumbers(cells) | Column::Routers(cells) => cells.iter().map(|cell| cell.map(u64::from)).collect(),
        Column::Floats(_) | Column::Energies(_) | Column::Texts(_) | Column::MaybeTexts(_) => {
            panic!("{name} has no whole numbers")
        }
    }
}

#[track_caller]
pub fn counts_in(table: &Table, name: &str) -> Vec<u64> {
    numbers_in(table, name).into_iter().map(|cell| cell.expect("a count")).collect()
}

#[track_caller]
pub fn floats_in<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    let Some(Column::Floats(cells)) = table.column(name) else { panic!("{name} has no fractions") };
    cells
}

#[track_caller]
fn texts_in<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a str> {
    let Some(Column::Texts(cells)) = table.column(name) else { panic!("{name} has no texts") };
    cells.iter().map(|cell| &**cell)
}

/// A span in which one channel is in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub channel: u32,
    pub state: LinkState,
    pub from: u64,
    pub to: u64,
}

/// The rows of the recording `link_states`, and whether they cover the run up to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    pub spans: Vec<Span>,
    pub complete: bool,
}

#[track_caller]
pub fn link_states(out: &Outcome) -> Spans {
    link_modes(out, &Modes::default())
}

/// The rows of the recording `link_states`, for a run with these modes.
#[track_caller]
pub fn link_modes(out: &Outcome, modes: &Modes) -> Spans {
    let table = table(out, "link_states");
    let [channels, from, to] = ["channel", "from_cycle", "to_cycle"].map(|name| counts_in(table, name));
    let state = |name: &str| modes.find(name).expect("a state");
    let states: Vec<_> = texts_in(table, "state").map(state).collect();
    let span = |k: usize| Span { channel: channels[k] as u32, state: states[k], from: from[k], to: to[k] };
    Spans { spans: (0..channels.len()).map(span).collect(), complete: table.complete.expect("a bound") }
}

/// A row of the recording `control_packets`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub cycle: u64,
    pub kind: String,
    pub from: u64,
    pub to: u64,
    pub link_class: String,
    pub about: Option<u64>,
    pub flag: bool,
    pub value: Option<u64>,
    /// The cycle in which the control packet arrived, and the number of links that it crossed; `None` if it has not arrived.
    pub arrival: Option<(u64, u64)>,
}

/// The rows of the recording `control_packets`, and whether the table had space for all rows.
#[track_caller]
pub fn control_packets(out: &Outcome) -> (Vec<Said>, bool) {
    let table = table(out, "control_packets");
    let counts = |name| counts_in(table, name);
    let (cycle, flag, from, to) = (counts("sent_cycle"), counts("flag"), counts("from_router"), counts("to_router"));
    let maybe = |name| numbers_in(table, name);
    let (about, value, came, hops) =
        (maybe("about_router"), maybe("value_flits"), maybe("arrived_cycle"), maybe("hops"));
    let said = |(k, (kind, link_class)): (usize, (&str, &str))| Said {
        cycle: cycle[k],
        kind: kind.to_owned(),
        from: from[k],
        to: to[k],
        link_class: link_class.to_owned(),
        about: about[k],
        flag: flag[k] == 1,
        value: value[k],
        arrival: came[k].zip(hops[k]),
    };
    let words = texts_in(table, "kind").zip(texts_in(table, "link_class"));
    (words.enumerate().map(said).collect(), table.complete.expect("a bound"))
}
