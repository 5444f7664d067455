//! Functions that the Python bindings call. Their parameters and results are JSON.

use crate::amounts::Bytes;
use crate::collectives::Rules;
use crate::form::Program;
use crate::loggops::{Answer, Failure, NodeTimes, Nodes, Parameters};
use crate::mpi::Converted;
use crate::readers::traces::{self, Clock, Files, TraceFormat};
use crate::transform::Window;
use crate::{loggops, readers, transform};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use weft_units::{Refusal, Time};

/// The parameters of the LogGOPS executor, as JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogGops {
    #[serde(rename = "L")]
    latency: Time,
    #[serde(rename = "o")]
    overhead: Time,
    #[serde(rename = "g")]
    gap: Time,
    #[serde(rename = "G")]
    gap_per_byte: Time,
    #[serde(rename = "O")]
    overhead_per_byte: Time,
    #[serde(rename = "S")]
    eager: Bytes,
    /// Model of nodes whose interfaces work in parallel with their processors. Without this key, the executor uses the
    /// model of LogGOPSim.
    #[serde(default)]
    node: Option<NodeParameters>,
}

/// The nodes on which the executor runs a program.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeParameters {
    /// Number of ranks per node.
    ranks: u32,
    /// Number of interfaces per node.
    interfaces: u32,
    /// True if the number of the receiving node determines the interface of a message. False if the index of the sending rank in its
    /// node determines the interface.
    by_destination: bool,
    #[serde(rename = "L")]
    latency: Time,
    #[serde(rename = "G")]
    gap_per_byte: Time,
    /// Part of the latency L: the time from a processor to its interface.
    injection: Time,
    /// Part of the latency L, once at each end: the time between an interface and a processor.
    host: Time,
    /// The time to send a reply, which is one flit.
    flit: Time,
}

impl LogGops {
    /// Reads the parameters from JSON. Refusals name the parameter.
    pub fn from_json(text: &str) -> Result<Self, Refusal> {
        serde_json::from_str(text).map_err(|problem| unreadable(&problem))
    }

    fn times(&self) -> [(&'static str, Time); 5] {
        [
            ("L", self.latency),
            ("o", self.overhead),
            ("g", self.gap),
            ("G", self.gap_per_byte),
            ("O", self.overhead_per_byte),
        ]
    }

    fn parameters(&self) -> Result<Parameters, Refusal> {
        Parameters::new(self.times(), self.eager.0)
    }
}

/// Converts an error of the JSON reader to a refusal. Text after a line break in the error message becomes the remedy.
fn unreadable(problem: &serde_json::Error) -> Refusal {
    let text = problem.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let (what, help) =
        text.split_once('\n').unwrap_or((text, "correct the parameter; docs/howto/programs.md shows the format"));
    Refusal::new("the parameters", what, help)
}

/// Reads a program in any known format.
pub fn read(file: &str, bytes: &[u8]) -> Result<Program, Refusal> {
    readers::of(bytes).read(file, bytes)
}

/// Returns the name of a trace's format, from the name and the first bytes of one of its files.
pub fn trace_format(name: &str, head: &[u8]) -> Option<&'static str> {
    traces::of(name, head).map(TraceFormat::name)
}

/// Reads a trace in the named format. `clock` is the name of the clock that measures computations; the default is processor
/// time.
pub fn read_trace(format: &str, files: &mut dyn Files, clock: Option<&str>) -> Result<Converted, Refusal> {
    let clock = clock.map(|name| {
        let known = || format!("write {}", Clock::NAMES.join(" or "));
        Clock::named(name).ok_or_else(|| Refusal::new("the clock", format!("there is no clock {name}"), known()))
    });
    let format = traces::named(format).ok_or_else(|| {
        let known: Vec<&str> = traces::FORMATS.iter().map(|format| format.name()).collect();
        let what = format!("there is no format {format}");
        Refusal::new("the format", what, format!("write the name of a trace format, {}", known.join(" or ")))
    })?;
    format.read(files, clock.transpose()?)
}

/// Writes a program in the named format, and expands its collectives into messages.
pub fn write(program: &Program, format: &str, rules: &Rules) -> Result<Vec<u8>, Refusal> {
    let format = readers::named(format).ok_or_else(|| {
        let known: Vec<&str> = readers::FORMATS.iter().map(|format| format.name()).collect();
        Refusal::new("the format", format!("there is no format {format}"), format!("write {}", known.join(" or ")))
    })?;
    if format.has_collectives() {
        program.check()?;
        return format.write(program);
    }
    format.write(&transform::lower(program, rules)?)
}

/// Runs a program on the executor. Returns `finish_ns` (last rank) and its `last_rank`, `ranks` (finish and compute
/// time of each \[ns\]), `messages`, `bytes`, `rendezvous`, `operations`, `cross_cpu`.
pub fn finish(program: &Program, rules: &Arc<Rules>, with: &LogGops) -> Result<Value, Failure> {
    if let Some(node) = with.node {
        let NodeParameters { ranks, interfaces, by_destination, latency, gap_per_byte, injection, host, flit } = node;
        let times = NodeTimes { latency, gap_per_byte, injection, host, flit };
        let (nodes, at) = Nodes::new(with.times(), with.eager.0, (ranks, interfaces, by_destination), &times)?;
        let answer = loggops::run_on(nodes, program, rules, at)?;
        return Ok(as_json(&answer, &at));
    }
    let at = with.parameters()?;
    let answer = loggops::run(program, rules, at)?;
    Ok(as_json(&answer, &at))
}

fn as_json(answer: &Answer, at: &Parameters) -> Value {
    let ns = |units: i64| {
        let per_ns = (1_000_000 / at.unit_fs) as i64;
        if units % per_ns == 0 { json!(units / per_ns) } else { json!(at.ns(units)) }
    };
    let (last, rank) = answer.last();
    let of_rank = |(finish, compute): (&i64, &i64)| json!({"finish_ns": ns(*finish), "compute_ns": ns(*compute)});
    json!({
        "finish_ns": ns(last), "last_rank": rank, "operations": answer.operations, "messages": answer.messages,
        "bytes": answer.bytes, "rendezvous": answer.rendezvous, "cross_cpu": answer.cross_cpu,
        "ranks": answer.finish.iter().zip(&answer.compute).map(of_rank).collect::<Vec<_>>(),
    })
}

/// Cuts a program without collectives to the operations that start within a time window ("1ms" to "2ms"). Also returns the number of
/// sends and receives whose partner is outside the window.
pub fn cut(program: &Program, with: &LogGops, begin: &str, end: &str) -> Result<(Program, u64), Failure> {
    let window = Window {
        from_ns: nanoseconds("the begin of the window", begin)?,
        to_ns: nanoseconds("the end of the window", end)?,
    };
    transform::cut(program, with.parameters()?, window)
}

fn nanoseconds(path: &str, text: &str) -> Result<f64, Refusal> {
    match text.parse() {
        Ok(Time::Femtoseconds(fs)) => Ok(fs as f64 / 1e6),
        Ok(time @ Time::Cycles(_)) => {
            Err(Refusal::new(path, format!("{time}: a program has no times in cycles"), "write a time such as 10us"))
        }
        Err(problem) => {
            let (what, help) = problem.split_once('\n').unwrap_or((&problem, "write a time such as 10us"));
            Err(Refusal::new(path, what, help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_with_errors_are_refused_by_name() {
        let text = r#"{"L": "2500ns", "o": "1500ns", "g": "1000ns", "G": "6", "O": "0ns", "S": "65535B"}"#;
        let refused = LogGops::from_json(text).unwrap_err();
        assert!(refused.what.contains("\"6\""), "{refused}");
        let cycles = text.replace("\"6\"", "\"6cycles\"");
        let refused = LogGops::from_json(&cycles).unwrap().parameters().unwrap_err();
        assert_eq!((refused.path.as_str(), refused.help.as_str()), ("G", "write a time such as 2500ns"));
    }

    #[test]
    fn times_are_counted_in_the_largest_unit_in_which_all_are_whole() {
        let unit = |per_byte: &str| {
            let text = format!(r#"{{"L": "1us", "o": "1ns", "g": "1ns", "G": "{per_byte}", "O": "0ns", "S": "1B"}}"#);
            LogGops::from_json(&text).unwrap().parameters().unwrap().unit_fs
        };
        assert_eq!([unit("6ns"), unit("0.02ns"), unit("0.0021ns")], [1_000_000, 1000, 100 / 100]);
    }
}
