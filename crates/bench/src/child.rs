//! Runs each sample in a child process of this program, so that the cases do not share memory, caches or a heap.

use crate::cases::Case;
use crate::sample::{How, Sample};
use std::error::Error;
use std::ffi::OsStr;
use std::process::{Child, Command, Stdio};

/// Cycles before the instruction count starts, and flit-hops that it should include. The two numbers are small, because code runs about
/// fifty times slower under callgrind.
const COUNT_WARMUP: u64 = 400;
const COUNT_HOPS: f64 = 400_000.0;

/// The command that starts `program`, on core number `core` if one is given.
pub fn pinned(program: impl AsRef<OsStr>, core: Option<usize>) -> Command {
    match core {
        Some(core) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(core.to_string()).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Whether the program with this name can be started.
pub fn exists(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Runs the case in a child process and returns the sample that the process prints.
pub fn sample(case: &Case, how: How, core: Option<usize>) -> Result<Sample, Box<dyn Error>> {
    let mut command = pinned(std::env::current_exe()?, core);
    Ok(finish(start(&mut command, case, how)?)?.0)
}

/// Number of instructions per flit-hop: the difference between a long and a short run under callgrind. This difference excludes set-up and
/// warm-up.
pub fn instructions(case: &Case, how: How, hops_per_cycle: f64) -> Result<f64, Box<dyn Error>> {
    let mut case = case.clone();
    case.warmup = case.warmup.min(COUNT_WARMUP);
    let program = std::env::current_exe()?;
    let mut run = |cycles| {
        case.cycles = cycles;
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&program);
        start(&mut valgrind, &case, how)
    };
    // both processes run at the same time, because counts of instructions do not depend on other processes
    let (short, long) = (run(0)?, run(count_cycles(hops_per_cycle))?);
    let (short, long) = (finish(short)?, finish(long)?);
    let count = |said: &str| collected(said).ok_or_else(|| format!("valgrind reported no instruction count: {said}"));
    let difference = count(&long.1)? - count(&short.1)?;
    Ok(difference as f64 / (long.0.flit_hops - short.0.flit_hops) as f64)
}

fn start(command: &mut Command, case: &Case, how: How) -> Result<Child, Box<dyn Error>> {
    command.args(["--sample", &case.name, "--warmup", &case.warmup.to_string(), "--cycles", &case.cycles.to_string()]);
    command.args(["--threads", &how.threads.to_string(), "--blocks", &how.blocks.to_string()]);
    command.args(["--copies", &how.copies.to_string(), "--record", &how.record.name()]);
    if how.plain {
        command.arg("--plain");
    }
    Ok(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?)
}

/// Waits for a child process, and returns the sample that it printed and its other output.
fn finish(child: Child) -> Result<(Sample, String), Box<dyn Error>> {
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(format!("a sample failed ({}): {}", output.status, said.trim()).into());
    }
    Ok((serde_json::from_slice(&output.stdout)?, said))
}

fn count_cycles(hops_per_cycle: f64) -> u64 {
    ((COUNT_HOPS / hops_per_cycle).ceil() as u64).max(5)
}

/// Reads the number of executed instructions from callgrind's output.
fn collected(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once("Collected :"))?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_count() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 2105\n==7==\n"), Some(2105));
        assert_eq!(collected("==7== I refs: 1\n"), None);
    }

    #[test]
    fn counts_about_as_many_hops_in_every_case() {
        assert_eq!(count_cycles(80.0), 5_000);
        assert_eq!(count_cycles(300_000.0), 5);
    }
}
