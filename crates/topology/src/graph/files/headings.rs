//! Interprets the headings of a table of cables: decides which columns describe which end of a cable.

use super::draft::Problem;
use csv::StringRecord;

/// Words in headings that identify the first and the second end of a cable.
const SIDES: [&[&str]; 2] = [
    &["a", "source", "src", "from", "local", "1", "left", "near"],
    &[
        "b",
        "z",
        "target",
        "dst",
        "dest",
        "destination",
        "to",
        "remote",
        "2",
        "right",
        "far",
        "peer",
        "neighbor",
        "neighbour",
    ],
];
const DEVICES: [&str; 10] =
    ["device", "node", "host", "hostname", "switch", "router", "system", "equipment", "chassis", "name"];
const PORTS: [&str; 6] = ["port", "interface", "iface", "ifname", "intf", "nic"];
/// Words in headings that have no meaning next to the word for an end.
const FILLERS: [&str; 5] = ["side", "end", "endpoint", "termination", "id"];

/// The kind of content in a column. The numbers 0 and 1 name the two ends of the cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    Device(usize),
    Port(usize),
    /// An attribute of one device: the end of the cable at which the device is, and the name of the attribute.
    OfDevice(usize, String),
    /// An attribute of the cable, with the heading as its name.
    OfCable(String),
}

/// A heading of a column, split into its meaningful parts.
struct Heading<'a> {
    text: &'a str,
    side: Option<usize>,
    is_device: bool,
    is_port: bool,
    /// All other words of the heading.
    rest: Vec<String>,
}

impl<'a> Heading<'a> {
    fn of(text: &'a str) -> Self {
        let words = words(text);
        let side = |word: &String| SIDES.iter().position(|words| words.contains(&word.as_str()));
        let known = |list: &[&str], word: &String| list.contains(&word.as_str());
        let own = words.iter().find_map(side);
        let is_device = words.iter().any(|word| known(&DEVICES, word) && (word != "name" || own.is_some()));
        let is_port = words.iter().any(|word| known(&PORTS, word));
        let is_rest = |word: &&String| {
            side(word).is_none() && !known(&DEVICES, word) && !known(&PORTS, word) && !known(&FILLERS, word)
        };
        Self { text, side: own, is_device, is_port, rest: words.iter().filter(is_rest).cloned().collect() }
    }

    /// True if the heading consists only of words for an end of the cable, such as "Side A".
    fn is_bare(&self) -> bool {
        self.side.is_some() && !self.is_device && !self.is_port && self.rest.is_empty()
    }
}

/// The words of a heading in lower case. "Side A Port", "side_a_port", "sideAPort" and "port1" are each split into words.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let breaks = (before.is_lowercase() && c.is_uppercase()) || (before.is_alphabetic() && c.is_ascii_digit());
        if breaks || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("a word").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the kind of content of each column. Refuses headings that do not name two devices.
pub fn columns(heading: &StringRecord) -> Result<Vec<Column>, Problem> {
    let headings: Vec<Heading> = heading.iter().map(Heading::of).collect();
    let named = |heading: &&Heading| heading.is_device && !heading.is_port && heading.rest.is_empty();
    // a column "Side A" or "Termination A" contains ports if other columns contain the devices
    let has_devices = headings.iter().filter(named).count() >= 2;
    let (mut devices, mut ports) = (0, 0);
    let column = |heading: &Heading| {
        let is_device = named(&heading) || (heading.is_bare() && !has_devices);
        let is_port = (heading.is_port && heading.rest.is_empty()) || (heading.is_bare() && has_devices);
        let next = |count: &mut usize| {
            *count += 1;
            heading.side.unwrap_or(*count - 1)
        };
        match (is_device, is_port, heading.side) {
            (true, ..) => Column::Device(next(&mut devices)),
            (false, true, _) => Column::Port(next(&mut ports)),
            (false, false, Some(side)) if !heading.is_port => Column::OfDevice(side, heading.rest.join("_")),
            _ => Column::OfCable(heading.text.to_owned()),
        }
    };
    let columns: Vec<Column> = headings.iter().map(column).collect();
    let ends = [0, 1].map(|side| columns.iter().filter(|column| **column == Column::Device(side)).count());
    let is_sound = |column: &Column| !matches!(column, Column::Device(2..) | Column::Port(2..));
    if ends == [1, 1] && columns.iter().all(is_sound) {
        return Ok(columns);
    }
    let shown: Vec<_> = heading.iter().take(8).map(super::values::short).collect();
    let what = format!("the heading does not name the two devices of a cable: {}", shown.join(", "));
    let help = "name the columns as in `device a,port a,device b,port b,speed,length`, or `source,target`";
    Err(Problem::new(what, help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Column::{Device, OfCable, OfDevice, Port};
    use proptest::prelude::*;

    fn read(heading: &str) -> Result<Vec<Column>, Problem> {
        columns(&heading.split(',').collect::<Vec<_>>().into())
    }

    #[test]
    fn headings_of_inventories_are_known() {
        let known = [Device(0), Port(0), Device(1), Port(1)];
        for heading in [
            "Side A Device,Side A Port,Side B Device,Side B Port",
            "device,port,device,port",
            "a_device,a_interface,b_device,b_interface",
            "Device A,Termination A,Device B,Termination B",
            "source,sourcePort,target,targetPort",
            "hostname1,port1,hostname2,port2",
            "local hostname,local interface,remote hostname,remote interface",
            "from,from port,to,to port",
        ] {
            assert_eq!(read(heading).expect(heading), known, "{heading}");
        }
        assert_eq!(read("source,target").unwrap(), [Device(0), Device(1)]);
        let cable = |name: &str| OfCable(name.to_owned());
        let device = |side, name: &str| OfDevice(side, name.to_owned());
        assert_eq!(
            read("Label,Role A,Device A,Device B,Rack B,Length (m),Port Speed").unwrap(),
            [
                cable("Label"),
                device(0, "role"),
                Device(0),
                Device(1),
                device(1, "rack"),
                cable("Length (m)"),
                cable("Port Speed")
            ]
        );
        for heading in ["0,1", "device,port", "source,from,target", "device,device,device", "speed,length", ""] {
            assert!(read(heading).is_err(), "{heading}");
        }
    }

    proptest! {
        #[test]
        fn any_heading_is_read_or_refused(heading in "((side|a|b|device|port|x|1|2|to|\\PC)[ ,_]?){0,8}") {
            if let Ok(columns) = read(&heading) {
                prop_assert_eq!(columns.iter().filter(|column| matches!(column, Device(_))).count(), 2);
            }
        }
    }
}
