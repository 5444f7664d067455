//! Pins the threads of a run to cores.

#[cfg(target_os = "linux")]
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// Restricts the calling thread to core number `core`. Returns true if the operating system has accepted this
/// restriction.
#[cfg(target_os = "linux")]
pub fn pin(core: usize) -> bool {
    let mut only = CpuSet::new();
    only.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only)).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn pin(_: usize) -> bool {
    false
}

/// A guard that undoes the pinning of the calling thread. When the guard is dropped, the thread gets its earlier set of cores back.
#[derive(Debug)]
pub struct Pinned {
    #[cfg(target_os = "linux")]
    before: Option<CpuSet>,
}

impl Pinned {
    pub fn begin() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            before: sched_getaffinity(Pid::from_raw(0)).ok(),
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(before) = &self.before {
            // the thread had this set of cores before, so the system accepts it
            let _ = sched_setaffinity(Pid::from_raw(0), before);
        }
    }
}
