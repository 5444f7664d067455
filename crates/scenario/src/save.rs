//! Writes the folders of results. A folder is written under a temporary name and then renamed, so that the final folder is either complete
//! or absent.

use crate::finished::Finished;
use crate::table::write;
use parquet::errors::ParquetError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file that is written last. A folder that contains this file is complete.
const SUMMARY: &str = "summary.json";

impl Finished {
    /// Writes `scenario.yaml`, the tables (`channels.parquet` and one per recording) and `summary.json` into `folder`. Does not
    /// change a complete folder.
    pub fn save(&self, folder: &Path) -> io::Result<()> {
        if folder.join(SUMMARY).exists() {
            return Ok(());
        }
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "results need a folder with a name"));
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        fs::create_dir_all(parent)?;
        // Counter for unique names of temporary folders: two processes, or two threads of one process, can write the same point.
        static PARTS: AtomicU64 = AtomicU64::new(0);
        let part = PARTS.fetch_add(1, Ordering::Relaxed);
        let part = parent.join(format!(".{}.{}.{part}.part", name.to_string_lossy(), std::process::id()));
        fs::create_dir_all(&part)?;
        let moved = self.write_into(&part).and_then(|()| match fs::rename(&part, folder) {
            // another process has already saved the same results
            Err(_) if folder.join(SUMMARY).exists() => fs::remove_dir_all(&part),
            moved => moved,
        });
        if let Err(error) = moved {
            // reports the error of the writing or renaming, and ignores an error of the removal: a temporary folder that remains has no
            // effect
            let _ = fs::remove_dir_all(&part);
            return Err(error);
        }
        File::open(parent)?.sync_all()
    }

    fn write_into(&self, folder: &Path) -> io::Result<()> {
        let create = |name: &str, bytes: &[u8]| -> io::Result<()> {
            let mut file = File::create(folder.join(name))?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        create("scenario.yaml", self.scenario_yaml.as_bytes())?;
        for input in &self.inputs {
            create(input.name(), input.bytes())?;
        }
        let table = |name: &str, write: &dyn Fn(&mut BufWriter<File>) -> Result<(), ParquetError>| -> io::Result<()> {
            let mut file = BufWriter::new(File::create(folder.join(format!("{name}.parquet")))?);
            write(&mut file).map_err(of_system)?;
            file.into_inner()?.sync_all()
        };
        table("channels", &|file| self.channels.write(file))?;
        for (name, recorded) in &self.recorded {
            table(name, &|file| write(name, &recorded.columns, file))?;
        }
        let summary = serde_json::to_string_pretty(&self.summary)?;
        create(SUMMARY, (summary + "\n").as_bytes())?;
        File::open(folder)?.sync_all()
    }
}

/// Returns the system error that an error of the table writer contains.
fn of_system(problem: ParquetError) -> io::Error {
    match problem {
        ParquetError::External(inner) => inner.downcast().map_or_else(io::Error::other, |problem| *problem),
        problem => io::Error::other(problem),
    }
}
