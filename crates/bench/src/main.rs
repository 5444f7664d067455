//! Measures the speed of the engine: time, instructions and memory per flit-hop (one flit through one router), for a set of networks.
//!
//! Every sample runs in a separate process (this program with hidden options), which prints one line of JSON.

mod booksim;
mod cases;
mod child;
mod measure;
mod reading;
mod report;
mod sample;
mod scaling;

use clap::Parser;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// If wall time divided by CPU time reaches this ratio, other processes have disturbed the sample.
const BUSY: f64 = 1.1;

/// Speed of Weft's engine: ns, instructions and memory per flit-hop (one flit through one router).
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Only cases whose name contains this
    case: Option<String>,
    /// One JSON document instead of the table
    #[arg(long)]
    json: bool,
    /// Print the names of the cases and stop
    #[arg(long)]
    list: bool,
    /// Samples per case, of which the median counts
    #[arg(long, value_name = "N", default_value = "3")]
    repeat: NonZeroUsize,
    /// Threads inside one simulation
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZeroUsize,
    /// Blocks of routers; 0 chooses by memory size
    #[arg(long, value_name = "N", default_value_t = 0)]
    blocks: usize,
    /// Independent simulations of the case at the same time, a thread each
    #[arg(long, value_name = "N", default_value = "1")]
    copies: NonZeroUsize,
    /// Recordings of the runs: compare with `asleep`
    #[arg(long, value_name = "WHAT", value_enum, default_value = "nothing")]
    record: sample::Record,
    /// Run the cycle loop without its shortcuts
    #[arg(long)]
    plain: bool,
    /// Do not count instructions (slow, needs valgrind)
    #[arg(long)]
    no_instructions: bool,
    /// A BookSim binary to run in between, on the same core, for the cases that it knows
    #[arg(long, value_name = "PATH")]
    booksim: Option<PathBuf>,
    /// Predict the speed-up with these numbers of threads, such as 2,16,64, and measure it where there are enough cores
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    predict: Vec<NonZeroUsize>,
    /// Run this very case here, once, and print one sample
    #[arg(long, hide = true, requires_all = ["warmup", "cycles"])]
    sample: Option<String>,
    #[arg(long, hide = true)]
    warmup: Option<u64>,
    #[arg(long, hide = true)]
    cycles: Option<u64>,
}

fn main() -> ExitCode {
    match start(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn start(options: &Options) -> Result<(), Box<dyn Error>> {
    let cases = cases::all();
    if let (Some(name), Some(warmup), Some(cycles)) = (&options.sample, options.warmup, options.cycles) {
        let mut case = cases.into_iter().find(|c| c.name == *name).ok_or_else(|| format!("no case is named {name}"))?;
        (case.warmup, case.cycles) = (warmup, cycles);
        println!("{}", serde_json::to_string(&case.sample(options.how())?)?);
        return Ok(());
    }
    let wanted = options.case.as_deref().unwrap_or_default();
    let chosen: Vec<_> = cases.into_iter().filter(|c| c.name.contains(wanted)).collect();
    if chosen.is_empty() {
        return Err(format!("no case has \"{wanted}\" in its name; --list shows them all").into());
    }
    if options.list {
        chosen.iter().for_each(|case| println!("{}", case.name));
        return Ok(());
    }
    if !options.predict.is_empty() {
        return chosen.iter().try_for_each(|case| predict_all(options, case));
    }
    measure_all(options, &chosen)
}

/// Predicts the speed-up for each requested number of threads, and prints one line of JSON for each.
fn predict_all(options: &Options, case: &cases::Case) -> Result<(), Box<dyn Error>> {
    let costs = scaling::Costs::here();
    let median = |threads: usize, of: fn(&sample::Sample) -> f64| -> Result<f64, Box<dyn Error>> {
        let how = sample::How { threads, ..options.how() };
        let samples =
            (0..options.repeat.get()).map(|_| child::sample(case, how, None)).collect::<Result<Vec<_>, _>>()?;
        Ok(measure::median(samples.iter().map(of).collect()))
    };
    // CPU time is used because it excludes other processes of the machine
    let alone = median(1, |sample| sample.cpu_seconds)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in options.predict.iter().map(|threads| threads.get()) {
        let prediction = scaling::predict(&scaling::observed(case, threads)?, case.units()?, threads, alone, costs);
        let measured = if (2..=cores).contains(&threads) {
            Some(alone / median(threads, |sample| sample.wall_seconds)?)
        } else {
            None
        };
        let line = serde_json::json!({ "case": case.name, "predicted": prediction, "measured_speed_up": measured, "costs": costs });
        println!("{line}");
    }
    Ok(())
}

fn measure_all(options: &Options, cases: &[cases::Case]) -> Result<(), Box<dyn Error>> {
    let (plan, mut notes) = options.plan();
    let machine = report::Machine::here();
    let booksim = plan.booksim.is_some();
    if !options.json {
        println!("{}\n{}", machine.line(), report::head(booksim));
    }
    let mut rows = Vec::new();
    for case in cases {
        let row = measure::row(case, &plan)?;
        if !options.json {
            println!("{}", report::line(&row, booksim));
        }
        rows.push(row);
    }
    if rows.iter().any(|row| row.wall_over_cpu > BUSY) {
        notes.push(format!("wall/CPU is above {BUSY}: other programs used the cores, so do not quote times or ratios"));
    }
    if options.json {
        let sample::How { threads, blocks, copies, record, plain } = plan.how;
        let record = record.name();
        let document =
            report::Document { machine, threads, blocks, copies, record, plain, repeat: plan.repeat, rows, notes };
        println!("{}", serde_json::to_string_pretty(&document)?);
    } else {
        notes.iter().for_each(|note| println!("note: {note}"));
    }
    Ok(())
}

impl Options {
    fn how(&self) -> sample::How {
        sample::How {
            threads: self.threads.get(),
            blocks: self.blocks,
            copies: self.copies.get(),
            record: self.record,
            plain: self.plain,
        }
    }

    /// The settings of the measurement, and remarks on numbers that cannot be measured.
    fn plan(&self) -> (measure::Plan, Vec<String>) {
        let mut notes = Vec::new();
        let mut usable = |program: &str, without: &str| {
            let found = child::exists(program);
            if !found {
                notes.push(format!("{program} was not found: {without}"));
            }
            found
        };
        let how = self.how();
        let single = how.threads * how.copies == 1;
        let instructions = !self.no_instructions && usable("valgrind", "instructions are not counted");
        let pin = single && self.booksim.is_some() && usable("taskset", "the two programs may run on different cores");
        let core = pin.then(|| std::thread::available_parallelism().map_or(1, usize::from) - 1);
        let booksim = self.booksim.clone();
        (measure::Plan { how, repeat: self.repeat.get(), instructions, booksim, core }, notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn options_are_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn zero_of_anything_is_refused() {
        for option in ["--repeat", "--threads", "--copies"] {
            assert!(Options::try_parse_from(["weft-bench", option, "0"]).is_err(), "{option}");
        }
    }

    #[test]
    fn an_unknown_case_is_refused() {
        let options = Options::try_parse_from(["weft-bench", "ring-of-bells"]).expect("valid options");
        let error = start(&options).expect_err("no such case").to_string();
        assert!(error.contains("ring-of-bells") && error.contains("--list"), "{error}");
    }
}
