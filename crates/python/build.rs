//! Notes the commit from which Weft is built, for `run.json`; nothing where it is not built in a checkout with git.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "HEAD"]).map(|commit| {
        let changed = git(&["status", "--porcelain", "--", ".."]).is_none_or(|lines| !lines.is_empty());
        if changed { format!("{commit}-changed") } else { commit }
    });
    println!("cargo::rustc-env=WEFT_COMMIT={}", commit.unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../");
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// What git prints; `None` where it fails.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
