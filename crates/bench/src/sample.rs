//! Runs a case in this process and measures its time.

use crate::cases::Case;
use clap::ValueEnum;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::time::Instant;
use weft_engine::power::{PolicyConfig, idle_timeout::IdleTimeout};
use weft_engine::recording::{
    RecordingConfig,
    link_states::LinkStates,
    series::{Series, SeriesOf},
    transient::Transient,
};
use weft_engine::spec::Execution;
use weft_engine::{Simulation, Spec};
use weft_units::Time;

/// The recordings that run in the measured case, to show their cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Record {
    #[default]
    Nothing,
    /// No recording, but with idle links going off, as in the cases with recordings.
    Asleep,
    /// A series of every channel, with a sample every 100 cycles.
    Series,
    /// A table of packet latency by creation time.
    Transient,
    /// A table of the states of all links.
    LinkStates,
    /// All three recordings above.
    Everything,
}

/// How to run a case: threads, blocks, copies, recordings and shortcuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// Number of threads that share one simulation.
    pub threads: usize,
    /// Number of blocks of routers; 0: the engine chooses the number.
    pub blocks: usize,
    /// Number of independent simulations of the case that run at the same time.
    pub copies: usize,
    /// The recordings of the run. The measured time includes their cost.
    pub record: Record,
    /// Whether the cycle loop runs without its shortcuts.
    pub plain: bool,
}

/// Results of a run of `cycles` cycles after the warm-up. Each number except `wall_seconds` and `cycles` covers all
/// copies together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub setup_seconds: f64,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    pub cycles: u64,
    pub flit_hops: u64,
    /// Peak resident memory so far [MiB]; `None` if the operating system does not report it.
    pub peak_mib: Option<f64>,
}

impl Record {
    fn apply(self, spec: &mut Spec) {
        if self != Self::Nothing {
            let time = |cycles: u128| Time::Femtoseconds(cycles * spec.cycle_fs);
            spec.policy = PolicyConfig::IdleTimeout(IdleTimeout {
                idle: Some(time(50)),
                rho: None,
                transition: time(20),
                to: "off".to_owned(),
                changes: None,
                switch_at: None,
            });
        }
        let or_all = |what| self == what || self == Self::Everything;
        let all = [
            (Self::Transient, RecordingConfig::Transient(Transient { bin: Time::Cycles(100) })),
            (Self::Series, RecordingConfig::Series(Series { every: Time::Cycles(100), of: SeriesOf::Channel })),
            (Self::LinkStates, RecordingConfig::LinkStates(LinkStates::default())),
        ];
        spec.recordings =
            all.iter().filter(|(what, _)| or_all(*what)).map(|(_, recording)| recording.asked()).collect();
    }

    /// The name of this choice on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Case {
    /// Runs the warm-up, which fills the network, and then measures the time of the timed cycles.
    pub fn sample(&self, how: How) -> Result<Sample, Box<dyn Error>> {
        let mut spec = self.spec()?;
        how.record.apply(&mut spec);
        let start = Instant::now();
        let execution = Execution::new(how.threads, how.blocks);
        let execution = if how.plain { execution.plain() } else { execution };
        let mut simulations =
            (0..how.copies).map(|_| Simulation::new(&spec, execution)).collect::<Result<Vec<Simulation>, _>>()?;
        let setup_seconds = start.elapsed().as_secs_f64();
        advance(&mut simulations, self.warmup);
        let before: u64 = simulations.iter().map(Simulation::flit_hops).sum();
        let (cpu, wall) = (cpu_seconds()?, Instant::now());
        advance(&mut simulations, self.warmup + self.cycles);
        let (wall, cpu) = (wall.elapsed(), cpu_seconds()? - cpu);
        Ok(Sample {
            setup_seconds,
            cpu_seconds: cpu,
            wall_seconds: wall.as_secs_f64(),
            cycles: self.cycles,
            flit_hops: simulations.iter().map(Simulation::flit_hops).sum::<u64>() - before,
            peak_mib: std::fs::read_to_string("/proc/self/status").ok().as_deref().and_then(peak_mib),
        })
    }
}

/// Advances all simulations in parallel, the first one on the calling thread.
fn advance(simulations: &mut [Simulation], until: u64) {
    let (first, others) = simulations.split_first_mut().expect("at least one copy");
    std::thread::scope(|scope| {
        for simulation in others {
            scope.spawn(|| simulation.advance_recording(until));
        }
        first.advance_recording(until);
    });
}

/// CPU time of all threads of this process so far [s].
fn cpu_seconds() -> Result<f64, nix::Error> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?;
    Ok(std::time::Duration::from(time).as_secs_f64())
}

/// Peak resident memory [MiB], from the text of `/proc/self/status`.
fn peak_mib(status: &str) -> Option<f64> {
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    Some(kib.trim().parse::<f64>().ok()? / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_peak() {
        assert_eq!(peak_mib("VmPeak:\t  99 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"), Some(2.0));
        assert_eq!(peak_mib("VmRSS:\t 1 kB\n"), None);
    }

    #[test]
    fn counts_only_the_timed_cycles() {
        let mut case = crate::cases::all().swap_remove(0);
        (case.warmup, case.cycles) = (100, 0);
        let how = How { threads: 1, blocks: 0, copies: 1, record: Record::Nothing, plain: false };
        assert_eq!(case.sample(how).expect("a valid case").flit_hops, 0);
        case.cycles = 200;
        let one = case.sample(how).expect("a valid case").flit_hops;
        // expected flit-hops: 512 terminals x load 0.05 x 200 cycles x 2.75 routers per packet
        assert!((12_000..16_500).contains(&one), "{one}");
        assert_eq!(case.sample(How { copies: 2, ..how }).expect("a valid case").flit_hops, 2 * one);
    }
}
