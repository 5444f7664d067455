//! Reads tables of cables that inventory programs export. The heading names the columns, and each further line is a cable with its two
//! devices. A list of edges with a heading, such as `source,target`, also counts as a table of cables.

use super::asked::{Attributes, BandwidthFrom, LatencyFrom};
use super::draft::{Count, Draft, Parallel, Place, Problem, Stated};
use super::headings::{Column, columns};
use super::sheet::{Asked, Field, Sheet};
use super::values;
use csv::{ReaderBuilder, StringRecord, Trim};
use std::collections::{HashMap, HashSet};
use weft_units::Remark;

weft_units::codes! {
    COLUMNS_READ = "graph_columns_read", Warning,
        means: "Weft recognised columns of a table of cables by their headings, and uses them as the bandwidth or length of the links.",
        computed: "A heading that contains speed, bandwidth or capacity marks a bandwidth. A heading that contains length or distance \
                   marks a length. All cells of the column must be quantities of that kind.",
        helps: "Change nothing if the columns are correct. `links` overrides a value for a link class, and `attributes` names other \
                columns.";
    PORTS_SHARED = "graph_ports_shared", Warning,
        means: "A table of cables names one port of a device in several lines. Each line is a link.",
        computed: "The number of pairs of device and port that are named more than once.",
        helps: "Correct the table, unless these are breakout cables.";
    CABLES_OPEN = "graph_cables_open", Warning,
        means: "Lines of a table of cables name fewer than two devices. Weft ignores these lines.",
        computed: "The number of lines with fewer than two devices.",
        helps: "Name both devices, unless an end of the cable is not plugged in.";
}

/// A cable: the two devices and their ports, the attributes of the cable, and its line in the file.
struct Cable {
    ends: [String; 2],
    ports: [String; 2],
    fields: Vec<Field>,
    line: u32,
}

/// The content of the table. `devices` contains every device in the order in which the devices first occur: its name, its attributes, and
/// its first line in the file.
#[derive(Default)]
struct Table {
    cables: Vec<Cable>,
    devices: Vec<(String, Vec<Field>, u32)>,
    places: HashMap<String, usize>,
    /// Number of lines that name only one device, and are therefore no links.
    open: u32,
}

pub fn read(text: &str, asked: Asked) -> Result<Draft, Problem> {
    let lines = lines(text)?;
    let Some((heading, body)) = lines.split_first() else {
        return Err(Problem::new("the table is empty", "write a heading, and one line per cable"));
    };
    let columns = columns(heading)?;
    let table = Table::of(&columns, body);
    let (attributes, found) = table.attributes(asked.attributes, heading, &columns);
    let mut sheet = Sheet::new(Asked { attributes: &attributes, ..asked });
    for (name, fields, line) in &table.devices {
        sheet.node(name, fields, || format!("line {line}"))?;
    }
    let mut known = HashSet::new();
    let mut ports: HashMap<(&str, &str), u32> = HashMap::new();
    for Cable { ends: [a, b], ports: [at_a, at_b], fields, line } in &table.cables {
        // skips the second line of a cable in a table that lists every cable twice, once from each end
        let has_ports = !at_a.is_empty() && !at_b.is_empty();
        if has_ports && known.contains(&[(b, at_b), (a, at_a)]) {
            continue;
        }
        known.insert([(a, at_a), (b, at_b)]);
        for (device, port) in [(a, at_a), (b, at_b)].into_iter().filter(|(_, port)| !port.is_empty()) {
            *ports.entry((device, port)).or_default() += 1;
        }
        sheet.edge(fields, Place { count: Count::Lines, number: *line, ends: [a, b] })?;
    }
    let mut draft = sheet.draft(Stated::Once, Parallel::Links, Count::Lines)?;
    draft.remarks.extend(found);
    draft.remarks.extend(shared(&ports));
    draft.remarks.extend(open(table.open));
    Ok(draft)
}

/// The lines of the table, split into fields. A byte-order mark and empty lines are left out.
fn lines(text: &str) -> Result<Vec<StringRecord>, Problem> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let mark = [b'\t', b';'].into_iter().find(|&mark| first.contains(char::from(mark))).unwrap_or(b',');
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(Trim::All).delimiter(mark);
    let lines = builder.from_reader(text.as_bytes()).into_records().collect::<Result<Vec<_>, _>>();
    lines.map_err(|error| Problem::new(error.to_string(), "save the table as plain text"))
}

impl Table {
    fn of(columns: &[Column], body: &[StringRecord]) -> Self {
        let mut table = Self::default();
        for record in body {
            let line = record.position().map_or(0, csv::Position::line) as u32;
            let (mut ends, mut ports) = ([String::new(), String::new()], [String::new(), String::new()]);
            let (mut of_ends, mut fields) = ([Vec::new(), Vec::new()], Vec::new());
            for (column, text) in columns.iter().zip(record).filter(|(_, text)| !text.is_empty()) {
                match column {
                    Column::Device(side) => ends[*side] = text.to_owned(),
                    Column::Port(side) => ports[*side] = text.to_owned(),
                    Column::OfDevice(side, name) => of_ends[*side].push((name.clone(), text.to_owned())),
                    Column::OfCable(name) => fields.push((name.clone(), text.to_owned())),
                }
            }
            if ends.iter().any(String::is_empty) {
                table.open += 1;
                continue;
            }
            for (name, own) in ends.iter().zip(of_ends) {
                table.device(name, own, line);
            }
            table.cables.push(Cable { ends, ports, fields, line });
        }
        table
    }

    /// Adds a device with its attributes. Attributes of the device that an earlier line has set do not change.
    fn device(&mut self, name: &str, fields: Vec<Field>, line: u32) {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.devices.push((name.to_owned(), Vec::new(), line));
            self.devices.len() - 1
        });
        let known = &mut self.devices[place].1;
        for (name, text) in fields {
            if known.iter().all(|(own, _)| *own != name) {
                known.push((name, text));
            }
        }
    }

    /// The attributes that the scenario maps to properties of links. Columns for speeds or lengths that have a unit are also used if the
    /// scenario does not map them, and a remark reports this use.
    fn attributes(
        &self,
        asked: &Attributes,
        heading: &StringRecord,
        columns: &[Column],
    ) -> (Attributes, Option<Remark>) {
        let mut attributes = asked.clone();
        let of_cables = || columns.iter().zip(heading).filter(|(column, _)| matches!(column, Column::OfCable(_)));
        let holds = |heading: &str, words: &[&str]| words.iter().any(|word| heading.to_lowercase().contains(word));
        let values = |name: &str| -> Vec<&str> {
            let of_cable = |cable: &Cable| cable.fields.iter().position(|(own, _)| own == name);
            self.cables.iter().filter_map(|cable| of_cable(cable).map(|place| cable.fields[place].1.as_str())).collect()
        };
        let mut found = Vec::new();
        for (_, name) in of_cables() {
            let unit = unit(name);
            let all = |fits: &dyn Fn(&str) -> bool| {
                let values = values(name);
                !values.is_empty() && values.into_iter().all(fits)
            };
            let from = name.to_owned();
            if attributes.bandwidth.is_none()
                && holds(name, &["speed", "bandwidth", "capacity"])
                && all(&|text| values::bandwidth(text, unit.as_deref()).is_ok())
            {
                found.push(format!("`{name}` as the bandwidth"));
                attributes.bandwidth = Some(BandwidthFrom { from, unit, round: None });
            } else if attributes.latency.is_none()
                && holds(name, &["length", "distance"])
                && all(&|text| values::latency(text, unit.as_deref()).is_ok())
            {
                found.push(format!("`{name}` as the length"));
                attributes.latency = Some(LatencyFrom { from, unit, round: None });
            }
        }
        let remark = (!found.is_empty()).then(|| Remark {
            code: &COLUMNS_READ,
            path: "file".to_owned(),
            numbers: vec![("columns".to_owned(), found.len() as f64)],
            what: format!("from the table of cables Weft reads {} of each link", found.join(" and ")),
            help:
                "change nothing if that is correct; `links` overrides a value for a link class, and `attributes` names \
                   other columns"
                    .to_owned(),
        });
        (attributes, remark)
    }
}

/// The unit at the end of a heading, as in "Length (m)" or "Speed [Gbps]".
fn unit(heading: &str) -> Option<String> {
    let inside = heading.strip_suffix([')', ']'])?.rsplit_once(['(', '['])?.1.trim();
    Some(inside.replace("bps", "b/s").replace("bit/s", "b/s"))
}

/// The remark that reports ports with more than one cable.
fn shared(ports: &HashMap<(&str, &str), u32>) -> Option<Remark> {
    let mut shared: Vec<_> = ports.iter().filter(|(_, cables)| **cables > 1).map(|(port, _)| *port).collect();
    shared.sort_unstable();
    let (device, port) = *shared.first()?;
    Some(Remark {
        code: &PORTS_SHARED,
        path: "file".to_owned(),
        numbers: vec![("ports".to_owned(), shared.len() as f64)],
        what: format!(
            "{} ports have more than one cable, such as {port} of {device}; each cable is a separate link",
            shared.len()
        ),
        help: "correct the table, unless these are breakout cables".to_owned(),
    })
}

/// The remark that reports lines that name only one device.
fn open(lines: u32) -> Option<Remark> {
    (lines > 0).then(|| Remark {
        code: &CABLES_OPEN,
        path: "file".to_owned(),
        numbers: vec![("lines".to_owned(), lines.into())],
        what: format!("{lines} lines of the table name fewer than two devices; Weft ignores these lines"),
        help: "name both devices, unless an end of the cable is not plugged in".to_owned(),
    })
}
