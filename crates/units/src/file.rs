//! Files that a scenario names (graphs, routing tables, traffic matrices): each file is read once, and stored by its name and the digest of
//! its content.
//!
//! A model's config has an [`InputFile`]. Reading the scenario reads the file, either relative to the folder of the scenario or from the
//! caller's attachments. The resolved scenario contains `name#sha256:digest`. Therefore the hash of a result covers the content of the
//! file, and Weft detects a file that changed after the run.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Largest input file \[bytes\]: Weft refuses a larger file, because its path is probably a mistake.
const MAX_BYTES: u64 = 1 << 30;
const MARK: &str = "#sha256:";
/// Files that Weft itself writes into a folder of results, in addition to tables. A file of the scenario is copied into that folder,
/// so it can't have one of these names.
const RESERVED: [&str; 3] = ["scenario.yaml", "summary.json", "stall.txt"];
/// File ending of the tables of results. An input file of a scenario can't have this ending.
const TABLE: &str = ".parquet";

/// An input file that a scenario names, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    name: String,
    digest: String,
    bytes: Arc<[u8]>,
}

impl InputFile {
    /// Creates an input file from bytes in memory.
    pub fn new(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let digest = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // The name is stored without the folder, because results must not depend on the folder of a file.
        let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
        Self { name, digest, bytes }
    }

    /// True if `written`, the text of a configuration, contains the name of a file with its digest.
    pub fn is_named_in(written: &str) -> bool {
        written.contains(MARK)
    }

    /// Name without folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first 8 bytes of the content's SHA-256 digest, as 16 hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The extension of the file name in lower case, without the dot; empty if the name has no extension.
    pub fn extension(&self) -> String {
        Path::new(&self.name).extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
    }

    /// Converts this file into a format that Weft reads. The converted file is copied into the results instead of this file. Refuses, with
    /// the remedy `help`, if this program has no converter.
    pub fn converted(&self, format: &str, help: &str) -> Result<Self, String> {
        let Some(convert) = CONVERTER.get() else {
            return Err(format!("{} is in the format `{format}`, which this program can't read\n{help}", self.name));
        };
        let known =
            CURRENT.with_borrow(|files| files.as_ref().and_then(|files| files.converted.get(&self.digest).cloned()));
        let new = match known {
            Some(new) => new,
            None => convert(&self.name, format, &self.bytes).map(|(name, bytes)| Self::new(&name, bytes))?,
        };
        CURRENT.with_borrow_mut(|files| files.as_mut().map_or(Ok(()), |files| files.replace(self, &new)))?;
        Ok(new)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content as text; the error names the first byte that is not text.
    pub fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| format!("byte {} of {} is not UTF-8 text", error.valid_up_to(), self.name))
    }
}

/// The sources of the files of a scenario (a folder and the caller's attachments), and the files that were read.
#[derive(Debug, Clone, Default)]
pub struct Files {
    folder: PathBuf,
    attached: BTreeMap<String, Arc<[u8]>>,
    read: BTreeMap<String, InputFile>,
    used: Vec<InputFile>,
    /// Converted files, by the digest of the original file.
    converted: BTreeMap<String, InputFile>,
}

/// A function that converts a file of another program into a format that Weft reads. The arguments of the function are the name, the format
/// and the content of the file. The result is the new name and content. The error is "the problem", a line break, "the remedy".
pub type Converter = dyn Fn(&str, &str, &[u8]) -> Result<(String, Vec<u8>), String> + Send + Sync;

/// The converter of this process. The variable is a global because serde passes no context to a field.
static CONVERTER: OnceLock<Box<Converter>> = OnceLock::new();

/// Sets the converter of this process. Later calls have no effect.
pub fn convert_with(converter: Box<Converter>) {
    CONVERTER.get_or_init(|| converter);
}

thread_local! {
    /// The files of the scenario that this thread is deserialising. The variable is a global because serde passes no context to a field.
    static CURRENT: RefCell<Option<Files>> = const { RefCell::new(None) };
}

impl Files {
    /// Prepares to read the files of a scenario from `folder`. For a name in `attached`, the attached content replaces the file on the
    /// disk.
    pub fn new(folder: impl Into<PathBuf>, attached: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let attached = attached.into_iter().map(|(name, bytes)| (name, bytes.into())).collect();
        Self { folder: folder.into(), attached, ..Self::default() }
    }

    /// Runs the function `f`, which must deserialise a scenario. Each [`InputFile`] in the scenario is read from the folder or the
    /// attachments. Also returns the files that were read.
    pub fn during<T>(&mut self, f: impl FnOnce() -> T) -> (T, Vec<InputFile>) {
        CURRENT.set(Some(std::mem::take(self)));
        let result = f();
        *self = CURRENT.take().unwrap_or_default();
        (result, std::mem::take(&mut self.used))
    }

    /// Reads one file, or takes it from memory if it was read before. Refuses it if the scenario names another digest.
    fn open(&mut self, written: &str) -> Result<InputFile, String> {
        let (name, expected) = written.split_once(MARK).map_or((written, None), |(name, digest)| (name, Some(digest)));
        let file = match expected.and_then(|digest| self.known(name, digest)) {
            Some(file) => file,
            None => self.load(name)?,
        };
        if let Some(digest) = expected.filter(|&digest| digest != file.digest) {
            return Err(format!(
                "{name} is not the file for which this scenario was written: its digest is {}, not {digest}\nrestore \
                 the file, or leave out {MARK}{digest} to use the new content",
                file.digest
            ));
        }
        self.keep(&file)?;
        Ok(file)
    }

    /// The file with this name and digest, if it was read before from any folder. A resolved scenario names the file without its folder.
    fn known(&self, name: &str, digest: &str) -> Option<InputFile> {
        let mut all = self.read.values().chain(self.converted.values());
        all.find(|file| file.name == name && file.digest == digest).cloned()
    }

    /// The file that the scenario calls `name`. The file is read from the disk only if it was not read before.
    fn load(&mut self, name: &str) -> Result<InputFile, String> {
        if let Some(file) = self.read.get(name) {
            return Ok(file.clone());
        }
        let file = match self.attached.get(name) {
            Some(bytes) => InputFile::new(name, Arc::clone(bytes)),
            None => InputFile::new(name, from_disk(&self.folder.join(name))?),
        };
        self.read.insert(name.to_owned(), file.clone());
        Ok(file)
    }

    /// Records that the scenario uses the file `new` in place of the file `old`.
    fn replace(&mut self, old: &InputFile, new: &InputFile) -> Result<(), String> {
        self.used.retain(|file| file != old);
        self.converted.insert(old.digest.clone(), new.clone());
        self.keep(new)
    }

    /// Records that the scenario uses a file. All files of a scenario are copied into one folder, so their names must differ.
    fn keep(&mut self, file: &InputFile) -> Result<(), String> {
        // Some file systems treat names that differ only in case as the same.
        let same = |name: &str| name.eq_ignore_ascii_case(&file.name);
        if RESERVED.iter().copied().any(same) || file.name.to_ascii_lowercase().ends_with(TABLE) {
            let name = &file.name;
            return Err(format!(
                "{name} is also the name of a file of the results, and the input file is stored next to the \
                 results\nrename the input file"
            ));
        }
        match self.used.iter().find(|other| same(&other.name)) {
            Some(other) if other == file => Ok(()),
            Some(other) => Err(format!(
                "two different files are called {} (digest {}) and {} (digest {}), but both are stored next to the \
                 results\nrename one of them",
                other.name, other.digest, file.name, file.digest
            )),
            None => {
                self.used.push(file.clone());
                Ok(())
            }
        }
    }
}

fn from_disk(path: &Path) -> Result<Vec<u8>, String> {
    let help = "write a path relative to the folder of the scenario";
    let shown = path.display();
    let about = std::fs::metadata(path).map_err(|error| format!("{shown} can't be read: {error}\n{help}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a file\n{help}"));
    }
    if about.len() > MAX_BYTES {
        return Err(format!("{shown} has {} bytes, but the limit is {MAX_BYTES}\nuse a smaller file", about.len()));
    }
    std::fs::read(path).map_err(|error| format!("{shown} can't be read: {error}\n{help}"))
}

impl<'de> Deserialize<'de> for InputFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        let opened = CURRENT.with_borrow_mut(|files| match files {
            Some(files) => files.open(&written),
            None => Files::default().open(&written),
        });
        opened.map_err(serde::de::Error::custom)
    }
}

impl Serialize for InputFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}{MARK}{}", self.name, self.digest))
    }
}

impl JsonSchema for InputFile {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "InputFile".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(files: &[(&str, &str)]) -> Result<Vec<InputFile>, String> {
        let attached = files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
        let mut all = Files::new("", attached);
        files.iter().try_for_each(|(name, _)| all.open(name).map(|_| ()))?;
        Ok(all.used)
    }

    #[test]
    fn a_file_that_is_written_out_is_found_without_its_folder() {
        let mut files = Files::new("", [("a/m.csv".to_owned(), b"1".to_vec()), ("b/m.csv".to_owned(), b"2".to_vec())]);
        let first = files.open("a/m.csv").unwrap();
        let written = format!("m.csv{MARK}{}", first.digest);
        assert_eq!(files.open(&written), Ok(first));
        // The scenario is refused: no file with the digest of b/m.csv was read before, and no file m.csv exists.
        let other = format!("m.csv{MARK}{}", InputFile::new("m.csv", b"2".to_vec()).digest);
        assert!(files.open(&other).unwrap_err().starts_with("m.csv can't be read"));
    }

    #[test]
    fn files_that_are_kept_together_have_names_of_their_own() {
        assert_eq!(keep(&[("a/m.csv", "1"), ("b/n.csv", "2")]).unwrap().len(), 2);
        assert_eq!(keep(&[("a/m.csv", "1"), ("b/m.csv", "1")]).unwrap().len(), 1, "the same content");
        let refused = keep(&[("a/m.csv", "1"), ("b/M.csv", "2")]).unwrap_err();
        assert!(
            refused.starts_with("two different files are called m.csv",) && refused.ends_with("\nrename one of them")
        );
        for name in RESERVED.into_iter().chain(["series.parquet", "Any.Parquet"]) {
            assert!(keep(&[(&format!("a/{name}"), "1")]).unwrap_err().contains("a file of the results"), "{name}");
        }
    }
}
