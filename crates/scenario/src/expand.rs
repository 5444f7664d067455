//! Converts a scenario file and `--set` arguments to points: applies overrides and sweeps, and checks the points. Weft checks all points
//! before the first point runs.

use crate::config::{Scenario, one_nanosecond};
use crate::diagnostic::{Diagnostic, Source, Span};
use crate::grain;
use crate::link_speed;
use crate::path::{self, Target, sweep_note};
use crate::point::Point;
use crate::presets;
use crate::schema::Schema;
use crate::tree::{self, Entry, Kind, Node};
use crate::warnings;
use crate::yaml;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use weft_units::{Duration, Refusal, Time, file::Files};

/// Maximum number of points of one file.
const MAX_POINTS: usize = 100_000;

/// Reads a scenario file, in UTF-8.
pub fn read(file: &Path) -> Result<String, Diagnostic> {
    let name = file.display();
    if file.is_dir() {
        let what = format!("{name} is a folder, but a scenario file is needed");
        let help = "give the path of a scenario file; in a folder of results, each point has its own file: \
                    points/*/scenario.yaml";
        return Err(Diagnostic::nowhere("", &what, help));
    }
    let bytes = std::fs::read(file).map_err(|error| {
        let help = "give the path of a readable scenario file, such as examples/quickstart.yaml";
        Diagnostic::nowhere("", &format!("{name} can't be read: {error}"), help)
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let what = format!("{name}:{line}: byte {at} of the file is not UTF-8 text");
        Diagnostic::nowhere("", &what, "save the file as UTF-8")
    })
}

/// Parses a scenario file, applies overrides and sweeps, and checks all points before the first point runs.
///
/// Files that the scenario names are read relative to the folder of `file_name`.
pub fn expand(file_name: &str, text: &str, sets: &[(String, String)]) -> Result<Vec<Point>, Diagnostic> {
    expand_with(file_name, text, sets, Vec::new())
}

/// Does the same as [`expand`], but takes the content of files that are in `attached` from there.
pub fn expand_with(
    file_name: &str,
    text: &str,
    sets: &[(String, String)],
    attached: Vec<(String, Vec<u8>)>,
) -> Result<Vec<Point>, Diagnostic> {
    let mut files = Files::new(Path::new(file_name).parent().unwrap_or(Path::new("")), attached);
    let source = Arc::new(Source { name: file_name.to_owned(), text: text.to_owned(), is_file: true });
    let mut root = tree::parse(&source, 0..text.len())?;
    match &root.kind {
        Kind::Mapping(entries) if entries.is_empty() && sets.is_empty() => {
            let help = "start from examples/quickstart.yaml; `weft schema` lists the keys";
            return Err(Diagnostic::nowhere("", &format!("{file_name} is empty: it contains no scenario"), help));
        }
        Kind::Mapping(_) => {}
        Kind::Scalar(_) | Kind::Sequence(_) => {
            let what = format!("a scenario is a mapping, not {}", root.describe());
            return Err(Diagnostic::at(&root.span, "", &what, "write `key: value` lines", &[]));
        }
    }
    let mut sweep = take(&mut root, "sweep")?;
    let mut zip = take(&mut root, "zip")?;
    for (path, value) in sets {
        set(&mut root, &mut sweep, &mut zip, path, value)?;
    }
    for (path, value) in sets {
        refuse_below_sweep(sweep.iter().chain(&zip), path, value)?;
    }
    let axes = axes(sweep, zip)?;
    let count = axes.iter().try_fold(1usize, |count, axis| count.checked_mul(axis.length));
    let Some(count) = count.filter(|count| *count <= MAX_POINTS) else {
        let lengths: Vec<_> = axes.iter().map(|axis| axis.length.to_string()).collect();
        let what = format!("the sweep has {} points, but the limit is {MAX_POINTS}", lengths.join(" x "));
        return Err(Diagnostic::at(&axes[0].columns[0].key_span, "sweep", &what, "sweep over fewer values", &[]));
    };
    let points = (0..count).map(|index| point(&root, &axes, index, &mut files)).collect::<Result<Vec<_>, _>>()?;
    refuse_twins(&points, &axes)?;
    Ok(points)
}

/// Refuses a sweep in which two values of an axis are equal after they are read, such as 0.1 and 0.10. They would give two curves of the
/// same runs.
fn refuse_twins(points: &[Point], axes: &[Axis]) -> Result<(), Diagnostic> {
    let mut stride = points.len();
    for axis in axes {
        stride /= axis.length;
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for row in 0..axis.length {
            let Some(first) = known.insert(&points[row * stride].hash, row) else { continue };
            if let Some(entry) = axis.columns.first() {
                let nodes = values(entry)?;
                let other = &nodes[row];
                let what = format!(
                    "{} and {} are the same value: they would appear as two curves",
                    written(nodes, first),
                    written(nodes, row)
                );
                let help = "remove one of the two; to run one point several times, vary its `seed`";
                return Err(Diagnostic::at(&other.span, &entry.key, &what, help, &[]));
            }
        }
    }
    Ok(())
}

/// Returns a value of a sweep as the user wrote it. For a mapping or a list, returns "value N", where N is the number of the value on its
/// axis.
fn written(nodes: &[Node], row: usize) -> String {
    let Node { kind, span, .. } = &nodes[row];
    match kind {
        Kind::Mapping(_) | Kind::Sequence(_) => format!("value {}", row + 1),
        Kind::Scalar(_) => format!("`{}`", span.source.text[span.range.clone()].trim()),
    }
}

/// Removes a top-level key (`sweep` or `zip`) from the tree, and returns its entries.
fn take(root: &mut Node, key: &str) -> Result<Vec<Entry>, Diagnostic> {
    let Kind::Mapping(entries) = &mut root.kind else { return Ok(Vec::new()) };
    let Some(at) = entries.iter().position(|entry| entry.key == key) else { return Ok(Vec::new()) };
    let help = format!("write `{key}:` and below it `path: [values]`, such as `traffic.load: [0.1, 0.2]`");
    swept(key, entries.remove(at).value, &help)
}

/// Returns the entries of the section `sweep` or `zip`. A section without a value has no entries.
fn swept(key: &str, value: Node, help: &str) -> Result<Vec<Entry>, Diagnostic> {
    match value.kind {
        Kind::Mapping(axes) => Ok(axes),
        Kind::Scalar(Value::Null) => Ok(Vec::new()),
        Kind::Scalar(_) | Kind::Sequence(_) => {
            let what = format!("`{key}` is {}", value.describe());
            Err(Diagnostic::at(&value.span, key, &what, help, &[]))
        }
    }
}

/// Applies one `--set path=value` to the scenario. If the scenario sweeps the path, the value replaces the sweep. The value `null` removes
/// the key.
fn set(
    root: &mut Node,
    sweep: &mut Vec<Entry>,
    zip: &mut Vec<Entry>,
    path: &str,
    value: &str,
) -> Result<(), Diagnostic> {
    let span = span_of_set(path, value);
    let node = tree::parse(&span.source, path.len() + 1..span.source.text.len())?;
    let removes = matches!(node.kind, Kind::Scalar(Value::Null));
    for (name, axes) in [("sweep", &mut *sweep), ("zip", &mut *zip)] {
        if let Some(key) = path.strip_prefix(name).and_then(|rest| rest.strip_prefix('.')) {
            axes.retain(|entry| entry.key != key);
            if !removes {
                axes.push(Entry { key: key.to_owned(), key_span: span, value: node });
            }
            return Ok(());
        }
        if path == name {
            *axes = swept(name, node, &format!("write --set '{name}.traffic.load=[0.1, 0.2]', or --set {name}=null"))?;
            return Ok(());
        }
    }
    sweep.retain(|entry| entry.key != path);
    zip.retain(|entry| entry.key != path);
    let target = Target { path, span: &span };
    if removes { target.remove(root) } else { target.place(root, node) }
}

/// The text of a `--set path=value` as a source for error messages.
fn span_of_set(path: &str, value: &str) -> Span {
    let source = Arc::new(Source { name: "--set".to_owned(), text: format!("{path}={value}"), is_file: false });
    Span { source, range: 0..path.len() }
}

/// Refuses a `--set path=value` if another `--set` sweeps a path that contains this path. The sweep would replace the value in each point.
fn refuse_below_sweep<'a>(
    mut swept: impl Iterator<Item = &'a Entry>,
    path: &str,
    value: &str,
) -> Result<(), Diagnostic> {
    let over = swept.find(|entry| path.len() > entry.key.len() && overlap(&entry.key, path));
    over.map_or(Ok(()), |over| {
        let span = span_of_set(path, value);
        let what = format!("`{}` is swept, and the values of the sweep replace everything below this path", over.key);
        let help = format!("change the values of the sweep, or set the whole path: --set {}=...", over.key);
        Err(Diagnostic::at(&span, path, &what, &help, &[]))
    })
}

/// An axis of the sweep: paths that change together, each with its values.
struct Axis {
    columns: Vec<Entry>,
    length: usize,
}

/// An axis for each swept path, followed by one axis for all zipped paths.
fn axes(sweep: Vec<Entry>, zip: Vec<Entry>) -> Result<Vec<Axis>, Diagnostic> {
    let all: Vec<_> = sweep.iter().chain(&zip).collect();
    for (i, entry) in all.iter().enumerate() {
        if let Some(name) = ["sweep", "zip"].iter().find(|name| entry.key.split('.').next() == Some(**name)) {
            let what = format!("`{name}` is inside a sweep, but it is a top-level key of the scenario");
            let help = format!(
                "write `{name}:` at the left margin, and below it `path: [values]`; on the command line: \
                 --set '{name}.traffic.load=[0.1, 0.2]'"
            );
            return Err(Diagnostic::at(&entry.key_span, &entry.key, &what, &help, &[]));
        }
        values(entry)?;
        if overlap(&entry.key, "bill") {
            let what = "a bill does not change any result, so it can't be swept";
            let help = "write one bill, and run `weft analyse bill RESULTS --bill FILE` for each of the others";
            return Err(Diagnostic::at(&entry.key_span, &entry.key, what, help, &[]));
        }
        if let Some(other) = all[..i].iter().find(|other| overlap(&other.key, &entry.key)) {
            let what = format!("`{}` and `{}` are both swept, but one is part of the other", other.key, entry.key);
            return Err(Diagnostic::at(&entry.key_span, &entry.key, &what, "sweep over one of the two", &[]));
        }
    }
    let mut axes = Vec::new();
    for entry in sweep {
        axes.push(Axis { length: values(&entry)?.len(), columns: vec![entry] });
    }
    if let Some(first) = zip.first() {
        let length = values(first)?.len();
        for entry in &zip {
            let own = values(entry)?.len();
            if own != length {
                let what = format!("`{}` has {own} values and `{}` has {length}", entry.key, first.key);
                let help = "lists under `zip` advance together: give them the same length, or use `sweep` to run all \
                            combinations";
                return Err(Diagnostic::at(&entry.key_span, &format!("zip.{}", entry.key), &what, help, &[]));
            }
        }
        axes.push(Axis { length, columns: zip });
    }
    Ok(axes)
}

fn overlap(a: &str, b: &str) -> bool {
    let inside =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    inside(a, b) || inside(b, a)
}

fn values(entry: &Entry) -> Result<&[Node], Diagnostic> {
    match &entry.value.kind {
        Kind::Sequence(values) if !values.is_empty() => Ok(values),
        _ => {
            let describe = match &entry.value.kind {
                Kind::Sequence(_) => "an empty list".to_owned(),
                _ => entry.value.describe(),
            };
            let what = format!("a sweep needs a list of values, not {describe}");
            let help = match &entry.value.kind {
                Kind::Scalar(value) if !value.is_null() => format!("write `{}: [{value}]`", entry.key),
                Kind::Mapping(parts) => {
                    let list = steps(parts).unwrap_or_else(|| yaml::flow(&entry.value.value()));
                    format!("write `{}: [{list}]`", entry.key)
                }
                _ => "write at least one value, or remove the path from the sweep".to_owned(),
            };
            Err(Diagnostic::at(&entry.key_span, &entry.key, &what, &help, &[]))
        }
    }
}

/// Maximum number of values that a remedy lists.
const LISTED: f64 = 50.0;
/// Keys with which users of other tools write the begin, the end and the step of a range.
const RANGE: [&[&str]; 3] = [&["from", "start", "begin"], &["to", "stop", "end"], &["step", "by"]];

/// The values of a mapping that the user wrote as a range: `range: [0.1, 0.5, 0.1]`, or three keys for begin, end and step.
fn steps(parts: &[Entry]) -> Option<String> {
    let numbers: Vec<&Node> = match parts {
        [Entry { key, value: Node { kind: Kind::Sequence(values), .. }, .. }] if key == "range" => {
            values.iter().collect()
        }
        _ if parts.len() == RANGE.len() => {
            let named = |names: &&[&str]| parts.iter().find(|part| names.contains(&part.key.as_str()));
            RANGE.iter().map(|names| named(names).map(|part| &part.value)).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let number = |node: &&Node| match &node.kind {
        Kind::Scalar(value) => value.to_string().parse::<f64>().ok(),
        Kind::Mapping(_) | Kind::Sequence(_) => None,
    };
    let &[from, to, step] = numbers.iter().map(number).collect::<Option<Vec<f64>>>()?.as_slice() else { return None };
    let count = ((to - from) / step + 1e-9).floor();
    // rounding removes the errors of binary fractions, such as 0.30000000000000004
    let value = |place: u32| ((from + f64::from(place) * step) * 1e9).round() / 1e9;
    (step > 0.0 && (1.0..LISTED).contains(&count))
        .then(|| (0..=count as u32).map(|place| value(place).to_string()).collect::<Vec<_>>().join(", "))
}

/// The point with number `index` in the sweep. The sweep combines all values of all axes. The values of the first axis change slowest.
fn point(root: &Node, axes: &[Axis], index: usize, files: &mut Files) -> Result<Point, Diagnostic> {
    let mut tree = root.clone();
    let mut coordinates = Vec::new();
    let mut stride: usize = axes.iter().map(|axis| axis.length).product();
    for axis in axes {
        stride /= axis.length;
        let row = index / stride % axis.length;
        for entry in &axis.columns {
            let Some(value) = values(entry)?.get(row) else { continue };
            coordinates.push((entry.key.clone(), value.value()));
            let swept = Node { swept: Some(entry.key.clone()), ..value.clone() };
            Target { path: &entry.key, span: &entry.key_span }.place(&mut tree, swept)?;
        }
    }
    let top = Span { range: tree.span.range.start..tree.span.range.start, ..tree.span.clone() };
    path::check(&mut tree, &top, &Schema::root(), "")?;
    presets::fill(&mut tree)?;
    link_speed::fill(&mut tree)?;
    let (scenario, inputs) = files.during(|| typed::<Scenario>(&tree));
    let checked = scenario?.assemble().and_then(|(written, mut spec, mut of_file)| {
        written.measure.check_length(&spec.traffic)?;
        let delay = spec.router.delay;
        let coarse = files.during(|| written.coarse(delay)).0?;
        let (scenario, resolved) = match coarse {
            None => (written, None),
            Some(coarse) => {
                let in_grains = |refusal| grain::explained(&written, refusal);
                let (scenario, of_grains, _) = coarse.assemble().map_err(in_grains)?;
                spec = of_grains;
                of_file.extend(grain::warning(&written, delay, &spec));
                (scenario, Some(written))
            }
        };
        let warned = warnings::of(&scenario, &spec)?;
        of_file.extend(grain::reworded(resolved.as_ref().unwrap_or(&scenario), warned));
        Ok((of_file, scenario, resolved))
    });
    let (warnings, scenario, resolved) = checked.map_err(|refusal| explain(&tree, &[], &refusal))?;
    Ok(Point::new(coordinates, (scenario, resolved), inputs, warnings, Arc::new(tree)))
}

/// Converts a checked tree to the type of a scenario; an error is shown at the value that caused it.
pub(crate) fn typed<T: DeserializeOwned>(tree: &Node) -> Result<T, Diagnostic> {
    typed_as(tree, Schema::root())
}

/// Converts a checked tree to a type that `schema` describes.
pub(crate) fn typed_as<T: DeserializeOwned>(tree: &Node, root: Schema) -> Result<T, Diagnostic> {
    use serde_path_to_error::Segment;
    serde_path_to_error::deserialize(tree.value()).map_err(|error| {
        let segments = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Unknown => None,
        });
        let path = segments.collect::<Vec<_>>().join(".");
        let text = error.into_inner().to_string();
        let (what, help) = text.split_once('\n').unwrap_or((&text, ""));
        let found = path::find(tree, &path);
        let part = part_of_percent(what, found.node);
        let what = in_words(what, Some(found.node).filter(|_| found.whole));
        let (mut schema, mut about) = (Some(root), "");
        for name in path.split('.') {
            schema = schema.and_then(|schema| schema.child(name));
            // an element of a list has no description, so the description of the list gives its type
            let above = if name.parse::<usize>().is_ok() { about } else { "" };
            about = schema.and_then(|schema| schema.description()).unwrap_or(above);
        }
        let several = schema.and_then(|schema| path::instead_of_list(found.node, &schema, &path));
        let several = several.filter(|_| found.whole && help.is_empty());
        let help = match part {
            Some(part) => format!("write {part}: {about}"),
            None => several.unwrap_or_else(|| if help.is_empty() { about } else { help }.to_owned()),
        };
        // this branch is for keys without a description
        let help = match what.strip_prefix("expected ").and_then(|what| what.split_once(", found ")) {
            Some((expected, _)) if help.is_empty() => format!("write {expected}"),
            _ => help,
        };
        explain(tree, &[], &Refusal::new(path, what, help))
    })
}

/// Converts a percentage such as "1%" to a number, for an error at a key that expects a number.
fn part_of_percent(what: &str, found: &Node) -> Option<f64> {
    let Kind::Scalar(Value::String(text)) = &found.kind else { return None };
    let percent: f64 = text.strip_suffix('%')?.trim_end().parse().ok().filter(|percent: &f64| percent.is_finite())?;
    // divides by 100 instead of multiplying by 0.01: 1 / 100 is exactly 0.01, but 7 * 0.01 is not 0.07
    what.ends_with(", expected f64").then_some(percent / 100.0)
}

/// Rewords a type error without names of Rust types: the expected value and the found value.
fn in_words(what: &str, found: Option<&Node>) -> String {
    let rest = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
    let Some((read, expected)) = rest.and_then(|rest| rest.split_once(", expected ")) else { return what.to_owned() };
    let words = match expected {
        "u8" => "a whole number from 0 to 255",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 to 18446744073709551615",
        "f64" => "a number",
        "a string" => "a text",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "an array of length 2" => "a list of two numbers",
        other => other,
    };
    let found = found.map_or_else(|| read.to_owned(), Node::describe);
    format!("expected {words}, found {found}")
}

/// Creates the error for a refusal, and shows the place where its path was written: in the file, in a sweep, or on the command line. A note
/// lists the other `coordinates` of the point, because the error can come from a combination of values.
pub(crate) fn explain(tree: &Node, coordinates: &[(String, Value)], refusal: &Refusal) -> Diagnostic {
    let path = refusal.path.as_str();
    let mut notes = Vec::new();
    let mut found = path::find(tree, path);
    let names: Vec<_> = path.split('.').collect();
    if let (false, ["links", class, key]) = (found.whole, names.as_slice()) {
        let default = path::find(tree, &format!("links.default.{key}"));
        if default.whole {
            notes.push(format!("`{class}` links have the `{key}` of `links.default`"));
            found = default;
        }
    }
    if let (false, ["traffic", "jobs", job, key, rest @ ..]) = (found.whole, names.as_slice()) {
        let own = path::find(tree, &format!("traffic.jobs.{job}.{key}"));
        let inherited = path::find(tree, &["traffic", key].iter().chain(rest).copied().collect::<Vec<_>>().join("."));
        if !own.whole && inherited.whole {
            notes.push(format!("`traffic.jobs.{job}` has the `{key}` of `traffic`"));
            found = inherited;
        }
    }
    if !found.whole && notes.is_empty() {
        notes.push(format!("`{path}` is not written in the scenario: the message is about its default value"));
    }
    notes.extend(in_cycles(tree, &found, refusal));
    notes.extend(found.swept.map(sweep_note));
    let others: Vec<_> = coordinates
        .iter()
        .filter(|(key, _)| Some(key.as_str()) != found.swept)
        .map(|(key, value)| format!("`{key}` is {}", value.as_str().map_or_else(|| yaml::flow(value), str::to_owned)))
        .collect();
    if !others.is_empty() {
        notes.push(format!("in the point where {}", others.join(" and ")));
    }
    Diagnostic::at(found.span, path, &refusal.what, &refusal.help, &notes)
}

/// The refused value as a number of cycles, if the user wrote it as a time in seconds, for the error message. The engine knows only cycles,
/// so a refusal by the engine shows cycles. `None` if the refusal shows the value in its written form.
fn in_cycles(tree: &Node, found: &path::Found, refusal: &Refusal) -> Option<String> {
    let text = |node: &Node| if let Kind::Scalar(Value::String(text)) = &node.kind { Some(text.clone()) } else { None };
    let written = text(found.node).filter(|written| found.whole && !refusal.what.contains(written.as_str()))?;
    let cycle = path::find(tree, "cycle");
    let cycle = if cycle.whole { text(cycle.node)?.parse().ok()? } else { one_nanosecond() };
    match (written.parse().ok()?, cycle) {
        (time @ Time::Femtoseconds(_), Time::Femtoseconds(cycle_fs)) if cycle_fs > 0 && refusal.path != "cycle" => {
            let Duration { cycles, .. } = time.duration(cycle_fs, &refusal.path).ok()?;
            Some(format!("{written} is {cycles} cycles of {cycle}"))
        }
        _ => None,
    }
}
