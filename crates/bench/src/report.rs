//! Writes the results as a table or as a JSON document.

use crate::measure::Row;
use serde::Serialize;

/// The machine on which the program measured the results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    pub cpu: String,
    pub cores: usize,
    /// Load average over one minute at the start of the program; `None` if it is unknown.
    pub load: Option<f64>,
    pub profile: &'static str,
    pub target: String,
}

/// The JSON document: the machine, the rows, and remarks, for example about an empty column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document {
    pub machine: Machine,
    pub threads: usize,
    pub blocks: usize,
    pub copies: usize,
    pub record: String,
    pub plain: bool,
    pub repeat: usize,
    pub rows: Vec<Row>,
    pub notes: Vec<String>,
}

impl Machine {
    pub fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        Self {
            cpu: read("/proc/cpuinfo").as_deref().and_then(cpu_model).unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" },
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        }
    }

    pub fn line(&self) -> String {
        let load = self.load.map_or("-".into(), |load| format!("{load:.2}"));
        format!("{}, {} cores, load {load}; {} build, {}", self.cpu, self.cores, self.profile, self.target)
    }
}

fn cpu_model(cpuinfo: &str) -> Option<&str> {
    Some(cpuinfo.lines().find(|line| line.starts_with("model name"))?.split_once(':')?.1.trim())
}

/// The header lines of the table of results.
pub fn head(booksim: bool) -> String {
    let mut line = format!(
        "{:36} {:>8} {:>8} {:>9} {:>11} {:>9} {:>8} {:>7} {:>8}",
        "", "CPU ns", "wall ns", "M flit-", "", "instr.", "peak", "set-up", "wall"
    );
    let mut units = format!(
        "{:36} {:>8} {:>8} {:>9} {:>11} {:>9} {:>8} {:>7} {:>8}",
        "case", "/hop", "/hop", "hops/s", "cycles/s", "/hop", "MiB", "s", "/CPU"
    );
    if booksim {
        line += &format!(" {:>10} {:>7}", "BookSim", "");
        units += &format!(" {:>10} {:>7}", "cycles/s", "ratio");
    }
    format!("{line}\n{units}")
}

/// The line of the table for one row of results.
pub fn line(row: &Row, booksim: bool) -> String {
    let or_dash = |value: Option<f64>, digits: usize| value.map_or("-".into(), |v| format!("{v:.digits$}"));
    let mut line = format!(
        "{:36} {:>8.1} {:>8.1} {:>9.2} {:>11.0} {:>9} {:>8} {:>7.2} {:>8.2}",
        row.case,
        row.cpu_ns_per_flit_hop,
        row.wall_ns_per_flit_hop,
        row.flit_hops_per_second / 1e6,
        row.cycles_per_second,
        or_dash(row.instructions_per_flit_hop, 0),
        or_dash(row.peak_mib, 1),
        row.setup_seconds,
        row.wall_over_cpu,
    );
    if booksim {
        let (cycles, ratio) = (or_dash(row.booksim_cycles_per_second, 1), or_dash(row.ratio, 1));
        line += &format!(" {cycles:>10} {ratio:>7}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cpu() {
        assert_eq!(cpu_model("processor : 0\nmodel name\t: A CPU @ 2 GHz\n"), Some("A CPU @ 2 GHz"));
        assert_eq!(cpu_model("processor : 0\n"), None);
    }

    #[test]
    fn lines_are_as_wide_as_the_head() {
        let row = Row {
            case: "a/b".into(),
            cpu_ns_per_flit_hop: 21.5,
            wall_ns_per_flit_hop: 22.0,
            flit_hops_per_second: 46.5e6,
            cycles_per_second: 110_000.0,
            instructions_per_flit_hop: None,
            peak_mib: Some(7.25),
            setup_seconds: 0.01,
            wall_over_cpu: 1.02,
            booksim_cycles_per_second: Some(1_250.0),
            ratio: Some(88.0),
        };
        for booksim in [false, true] {
            let text = line(&row, booksim);
            assert!(head(booksim).lines().all(|l| l.len() == text.len()), "{text}");
        }
        assert!(line(&row, true).contains("        - "), "no instruction count");
    }
}
