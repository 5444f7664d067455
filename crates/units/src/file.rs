//! Files that a scenario names (graphs, routing tables, traffic matrices): read once, kept by name and digest.
//!
//! A model's config holds an [`InputFile`]; reading the scenario reads the file, relative to the folder of the scenario or
//! from the attachments that the caller gives. The resolved scenario says `name#sha256:digest`, so that the hash of a
//! result covers the content, and a file that has changed since is noticed.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest input file \[bytes\]: a mistyped path to something huge is refused, not read.
const MAX_BYTES: u64 = 1 << 30;
const MARK: &str = "#sha256:";

/// A file named in a scenario, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    name: String,
    digest: String,
    bytes: Arc<[u8]>,
}

impl InputFile {
    /// A file that exists in memory only.
    pub fn new(name: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let digest = Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        // the folder is left out: results must not depend on where a file lay
        let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy().into_owned());
        Self { name, digest, bytes }
    }

    /// Name without folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its ending in lower case, without the dot; empty if it has none.
    pub fn extension(&self) -> String {
        Path::new(&self.name).extension().map(|end| end.to_string_lossy().to_lowercase()).unwrap_or_default()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The content as text; the error names the first byte that is none.
    pub fn text(&self) -> Result<&str, String> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| format!("byte {} of {} is not UTF-8 text", error.valid_up_to(), self.name))
    }
}

/// Where the files of a scenario come from, and those that were read.
#[derive(Debug, Clone, Default)]
pub struct Files {
    folder: PathBuf,
    attached: BTreeMap<String, Arc<[u8]>>,
    read: BTreeMap<String, InputFile>,
    used: Vec<InputFile>,
}

thread_local! {
    /// The files of the scenario that this thread is deserialising: serde hands no context to a field.
    static CURRENT: RefCell<Option<Files>> = const { RefCell::new(None) };
}

impl Files {
    /// Files of a scenario in `folder`; a name among `attached` is taken from there.
    pub fn new(folder: impl Into<PathBuf>, attached: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        let attached = attached.into_iter().map(|(name, bytes)| (name, bytes.into())).collect();
        Self { folder: folder.into(), attached, ..Self::default() }
    }

    /// Runs `f`, in which [`InputFile`]s that are deserialised find these files; returns those that were, too.
    pub fn during<T>(&mut self, f: impl FnOnce() -> T) -> (T, Vec<InputFile>) {
        CURRENT.set(Some(std::mem::take(self)));
        let result = f();
        *self = CURRENT.take().unwrap_or_default();
        (result, std::mem::take(&mut self.used))
    }

    /// Reads one file; a second time from memory.
    fn open(&mut self, written: &str) -> Result<InputFile, String> {
        let (name, expected) = written.split_once(MARK).map_or((written, None), |(name, digest)| (name, Some(digest)));
        if !self.read.contains_key(name) {
            let file = match self.attached.get(name) {
                Some(bytes) => InputFile::new(name, Arc::clone(bytes)),
                None => InputFile::new(name, from_disk(&self.folder.join(name))?),
            };
            self.read.insert(name.to_owned(), file);
        }
        let file = self.read[name].clone();
        if !self.used.contains(&file) {
            self.used.push(file.clone());
        }
        match expected {
            Some(digest) if digest != file.digest => Err(format!(
                "{name} is not the file this scenario was written for: its digest is {}, not {digest}\nrestore the \
                 file, or leave out {MARK}{digest} to take the new content",
                file.digest
            )),
            _ => Ok(file),
        }
    }
}

fn from_disk(path: &Path) -> Result<Vec<u8>, String> {
    let help = "write a path relative to the folder of the scenario";
    let shown = path.display();
    let about = std::fs::metadata(path).map_err(|error| format!("{shown} can't be read: {error}\n{help}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is no file\n{help}"));
    }
    if about.len() > MAX_BYTES {
        return Err(format!("{shown} has {} bytes, and {MAX_BYTES} is the limit\ntake a smaller file", about.len()));
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
