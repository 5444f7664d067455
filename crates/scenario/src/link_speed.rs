//! `link_speed`: the nominal speed of a link, which determines the cycle and the flit.
//!
//! A channel carries one flit per cycle, so speed * cycle = flit. If the scenario gives a speed, Weft writes missing values of `cycle` and
//! `flit` into the tree of the scenario. The resolved scenario contains all three values, and Weft refuses values that do not agree.
//! `power.catalogue` uses ports of this speed unless it names another speed.

use crate::config::{Scenario, one_nanosecond};
use crate::diagnostic::Diagnostic;
use crate::expand::explain;
use crate::tree::{Entry, Kind, Node};
use serde_json::Value;
use std::borrow::Cow;
use std::str::FromStr;
use weft_units::{Bandwidth, Bits, Refusal, Time, gcd};

const PATH: &str = "link_speed";
const FEMTOSECONDS_PER_SECOND: u128 = 1_000_000_000_000_000;

/// If the scenario names a link speed, writes the cycle, the flit or both into its tree.
pub(crate) fn fill(tree: &mut Node) -> Result<(), Diagnostic> {
    let Some(Ok(Bandwidth::BitsPerSecond(speed @ 1..))) = read(tree, PATH) else { return Ok(()) };
    fill_catalogue(tree, Bandwidth::BitsPerSecond(speed));
    let (cycle, flit) = (read::<Time>(tree, "cycle"), read::<Bits>(tree, "flit"));
    let made = match (cycle, flit) {
        (None, Some(Ok(flit))) => cycle_of(speed, flit).map(|cycle| vec![("cycle", cycle.to_string())]),
        (Some(Ok(Time::Femtoseconds(cycle))), None) => {
            flit_of(speed, cycle).map(|flit| vec![("flit", flit.to_string())])
        }
        (None, None) => {
            let cycle = one_nanosecond();
            let Time::Femtoseconds(femtoseconds) = cycle else { return Ok(()) };
            flit_of(speed, femtoseconds).map(|flit| vec![("cycle", cycle.to_string()), ("flit", flit.to_string())])
        }
        // if the scenario has both keys, or one of them cannot be read, nothing is written, and the check of the scenario reports errors
        _ => Ok(Vec::new()),
    };
    let made = made.map_err(|refusal| explain(tree, &[], &refusal))?;
    let Some(span) = tree.child_mut(PATH).map(|node| node.span.clone()) else { return Ok(()) };
    let Kind::Mapping(entries) = &mut tree.kind else { return Ok(()) };
    for (key, text) in made {
        let value = Node { kind: Kind::Scalar(Value::String(text)), span: span.clone(), swept: None };
        entries.push(Entry { key: key.to_owned(), key_span: span.clone(), value });
    }
    Ok(())
}

/// Writes the link speed into `power.catalogue` as the speed of its ports, unless the scenario names one.
fn fill_catalogue(tree: &mut Node, speed: Bandwidth) {
    let Some(catalogue) = tree.child_mut("power").and_then(|power| power.child_mut("catalogue")) else { return };
    let (span, is_named) = (catalogue.span.clone(), catalogue.child_mut("speed").is_some());
    let Kind::Mapping(entries) = &mut catalogue.kind else { return };
    if !is_named {
        let value = Node { kind: Kind::Scalar(Value::String(speed.to_string())), span: span.clone(), swept: None };
        entries.push(Entry { key: "speed".to_owned(), key_span: span, value });
    }
}

/// Reads the quantity under a key. `None` if the key is missing, and an error if the value is not a quantity of this type.
fn read<T: FromStr>(tree: &mut Node, key: &str) -> Option<Result<T, ()>> {
    let node = tree.child_mut(key)?;
    Some(match &node.kind {
        Kind::Scalar(Value::String(text)) => text.parse().map_err(|_| ()),
        _ => Err(()),
    })
}

/// Number of bits that a link carries in a cycle. `speed`: bandwidth [bits per second]; `cycle`: length of a cycle [fs].
fn flit_of(speed: u128, cycle: u128) -> Result<Bits, Refusal> {
    let speed_text = Bandwidth::BitsPerSecond(speed);
    let bits = speed.checked_mul(cycle).filter(|bits| bits % FEMTOSECONDS_PER_SECOND == 0);
    let flit = bits.map(|bits| bits / FEMTOSECONDS_PER_SECOND).and_then(|bits| u64::try_from(bits).ok());
    flit.filter(|bits| *bits > 0).map(Bits).ok_or_else(|| {
        let carried = speed as f64 * cycle as f64 / FEMTOSECONDS_PER_SECOND as f64;
        let what = format!(
            "{speed_text} carries {carried} bits in a cycle of {}, but a flit has a whole number of bits, at least 1",
            Time::Femtoseconds(cycle)
        );
        Refusal::new(
            PATH,
            what,
            format!("leave `cycle` out, and write a `flit` that is a multiple of {}", least(speed)),
        )
    })
}

/// The time that a link needs for a flit. `speed`: bandwidth [bits per second].
fn cycle_of(speed: u128, flit: Bits) -> Result<Time, Refusal> {
    let time = u128::from(flit.0) * FEMTOSECONDS_PER_SECOND;
    if speed > 0 && flit.0 > 0 && time.is_multiple_of(speed) {
        return Ok(Time::Femtoseconds(time / speed));
    }
    let what = format!(
        "{} carries a flit of {flit} in a time that is not a whole number of femtoseconds, at least 1",
        Bandwidth::BitsPerSecond(speed)
    );
    Err(Refusal::new(PATH, what, format!("write a `flit` that is a multiple of {}", least(speed))))
}

/// The smallest flit for which a link of this speed needs a whole number of femtoseconds.
fn least(speed: u128) -> String {
    let bits = speed / gcd(speed, FEMTOSECONDS_PER_SECOND).max(1);
    u64::try_from(bits).map_or_else(|_| format!("{bits}b"), |bits| Bits(bits.max(1)).to_string())
}

impl Scenario {
    /// Rewrites the refusal of a link that is faster than one default flit per default cycle: the help then begins with the fitting
    /// `link_speed`. Any other refusal is returned unchanged.
    pub(crate) fn with_fitting_speed<'a>(&self, tree: &Node, refusal: &'a Refusal) -> Cow<'a, Refusal> {
        let names: Vec<_> = refusal.path.split('.').collect();
        let ["links", class, "bandwidth"] = names.as_slice() else { return Cow::Borrowed(refusal) };
        let Time::Femtoseconds(cycle) = self.cycle else { return Cow::Borrowed(refusal) };
        let in_bits = |bandwidth: Bandwidth| match bandwidth {
            Bandwidth::BitsPerSecond(bits) => Some(bits),
            Bandwidth::Flits { .. } => None,
        };
        let of_class = self.links.get(*class).and_then(|link| link.bandwidth).and_then(in_bits);
        let fastest = self.links.values().filter_map(|link| link.bandwidth.and_then(in_bits)).max();
        let carried = u128::from(self.flit.0) * FEMTOSECONDS_PER_SECOND / cycle.max(1);
        let is_written = |key: &str| matches!(&tree.kind, Kind::Mapping(all) if all.iter().any(|each| each.key == key));
        match (of_class, fastest) {
            (Some(bits), Some(speed))
                if bits > carried
                    && flit_of(speed, cycle).is_ok()
                    && ![PATH, "cycle", "flit"].into_iter().any(is_written) =>
            {
                let speed = Bandwidth::BitsPerSecond(speed);
                let help = format!(
                    "write `{PATH}: {speed}`, the speed of the fastest link, from which Weft computes the flit; or {}",
                    refusal.help
                );
                Cow::Owned(Refusal { help, ..refusal.clone() })
            }
            _ => Cow::Borrowed(refusal),
        }
    }

    /// Refuses a link speed if the number of bits that it carries per cycle differs from the size of a flit.
    pub(crate) fn check_link_speed(&self, cycle_fs: u128) -> Result<(), Refusal> {
        let Some(speed) = self.link_speed else { return Ok(()) };
        let Bandwidth::BitsPerSecond(bits @ 1..) = speed else {
            let what = format!("{speed} does not determine the length of a cycle");
            return Err(Refusal::new(PATH, what, "write bits per second, such as 400Gb/s"));
        };
        let carried = bits.checked_mul(cycle_fs);
        if carried == Some(u128::from(self.flit.0) * FEMTOSECONDS_PER_SECOND) {
            return Ok(());
        }
        let what = format!(
            "a link that carries a flit of {} in a cycle of {} does not have the speed {speed}",
            self.flit, self.cycle
        );
        Err(Refusal::new(
            PATH,
            what,
            "leave out `cycle` or `flit`, which Weft then computes from the speed, or leave out `link_speed`",
        ))
    }
}
