//! Measures the speed of BookSim on the same network, for comparison. BookSim is not part of Weft: the user gives the path of a BookSim
//! binary.
//!
//! BookSim runs twice: a short run that only fills the network, and a long run. The difference of their CPU times excludes set-up and
//! drain.

use nix::sys::resource::{UsageWho, getrusage};
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

/// Approximate CPU time [s] by which the long run should exceed the short run.
const TARGET_SECONDS: f64 = 5.0;
/// Number of cycles at the start of every run in which packets fill the network.
const FILL: u64 = 150;

/// The parameters of a benchmark case in the form that BookSim needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// The topology with its parameters, as `key=value;...`.
    pub network: &'static str,
    pub routing: &'static str,
    pub vcs: u8,
    pub buffer: u32,
    pub load: f64,
    pub packet_flits: u32,
}

impl Peer {
    /// CPU time of BookSim per simulated cycle [s].
    pub fn seconds_per_cycle(&self, binary: &Path, core: Option<usize>) -> Result<f64, Box<dyn Error>> {
        let short = self.cpu_seconds(binary, core, FILL)?;
        let cycles = timed_cycles(short);
        let long = self.cpu_seconds(binary, core, FILL + cycles)?;
        Ok((long - short) / cycles as f64)
    }

    /// Runs BookSim with the configuration of this case (in a temporary file), and returns its CPU time [s].
    fn cpu_seconds(&self, binary: &Path, core: Option<usize>, cycles: u64) -> Result<f64, Box<dyn Error>> {
        let file = std::env::temp_dir().join(format!("weft-bench-{}.cfg", std::process::id()));
        std::fs::write(&file, self.config(cycles))?;
        let before = children_cpu()?;
        let output = crate::child::pinned(binary, core).arg(&file).output();
        std::fs::remove_file(&file)?;
        let output = output?;
        if !String::from_utf8_lossy(&output.stdout).contains("Time taken is") {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{} did not finish its run: {}", binary.display(), said.trim()).into());
        }
        Ok(children_cpu()? - before)
    }

    /// BookSim's configuration file for one sample period of exactly `cycles` cycles, without a convergence test.
    fn config(&self, cycles: u64) -> String {
        let mut text = String::new();
        for (key, value) in self.network.split(';').filter_map(|pair| pair.split_once('=')) {
            writeln!(text, "{key} = {value};").expect("writing to memory");
        }
        let Self { routing, vcs, buffer, load, packet_flits, .. } = self;
        write!(
            text,
            "routing_function = {routing};\nnum_vcs = {vcs};\nvc_buf_size = {buffer};\n\
             injection_rate = {load};\ninjection_rate_uses_flits = 1;\npacket_size = {packet_flits};\n\
             traffic = uniform;\nvc_allocator = islip;\nsw_allocator = islip;\nalloc_iters = 1;\n\
             internal_speedup = 2.0;\nrouting_delay = 0;\nvc_alloc_delay = 1;\nsw_alloc_delay = 1;\n\
             st_final_delay = 1;\ncredit_delay = 2;\nwait_for_tail_credit = 0;\n\
             sim_type = throughput;\nwarmup_periods = 1;\nmax_samples = 1;\nsample_period = {cycles};\nseed = 1;\n"
        )
        .expect("writing to memory");
        text
    }
}

/// Number of cycles after the fill for which BookSim takes about the target time. `fill_seconds`: CPU time of the short
/// run, with set-up.
fn timed_cycles(fill_seconds: f64) -> u64 {
    ((TARGET_SECONDS * FILL as f64 / fill_seconds) as u64).clamp(FILL, 5_000)
}

/// CPU time of all child processes of this program that have ended.
fn children_cpu() -> Result<f64, nix::Error> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 * 1e-6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Peer = Peer {
        network: "topology=torus;k=8;n=3",
        routing: "dim_order",
        vcs: 4,
        buffer: 16,
        load: 0.2,
        packet_flits: 1,
    };

    #[test]
    fn writes_a_configuration() {
        let text = PEER.config(700);
        for line in ["topology = torus;", "k = 8;", "num_vcs = 4;", "injection_rate = 0.2;", "sample_period = 700;"] {
            assert!(text.lines().any(|l| l == line), "{line} in {text}");
        }
    }

    #[test]
    fn chooses_the_length() {
        assert_eq!(timed_cycles(0.15), 5_000);
        assert_eq!(timed_cycles(1.5), 500);
        assert_eq!(timed_cycles(60.0), FILL);
    }

    #[test]
    fn a_peer_that_fails_is_an_error() {
        let error = PEER.seconds_per_cycle(Path::new("/bin/false"), None).expect_err("no BookSim");
        assert!(error.to_string().contains("/bin/false did not finish"), "{error}");
    }
}
