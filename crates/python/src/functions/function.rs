//! A Python function that a scenario names: its file, its name and its arguments.

use crate::{errors, value};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use schemars::JsonSchema;
use serde::de::{Error, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_units::{InputFile, Refusal};

/// The file and the name of a function, written `FILE.py:NAME`. A scenario that Weft writes also contains the digest of the file, so the
/// hash of a point depends on the text of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonFunction {
    file: InputFile,
    name: String,
}

/// The arguments with which a scenario calls a function.
pub type Arguments = BTreeMap<String, Argument>;

/// An argument of a Python function: a string, a number, a truth value, or a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Argument(Value);

impl PythonFunction {
    /// Creates a function in a file that exists only in memory.
    pub fn new(file: InputFile, name: &str) -> Self {
        Self { file, name: name.to_owned() }
    }

    /// Calls a function in Weft's Python modules with this user function as an argument, and returns the answer. An exception in Python
    /// becomes a refusal at `path`.
    pub fn ask<T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
        &self,
        module: &str,
        question: &str,
        arguments: &Arguments,
        facts: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
        path: &str,
    ) -> Result<T, Refusal> {
        Python::attach(|py| {
            let answer = || {
                let (known, given) = (PyDict::new(py), PyDict::new(py));
                facts(&known)?;
                for (name, argument) in arguments {
                    given.set_item(name, value::to_python(py, &argument.0)?)?;
                }
                let module = py.import(module)?;
                let text = PyBytes::new(py, self.file.bytes());
                let answer = module.call_method1(question, (text, self.file.name(), &self.name, given, known))?;
                answer.extract::<T>().map_err(Into::into)
            };
            answer().map_err(|problem| refusal(py, &problem, path))
        })
    }

    /// A string of all data on which the function's results depend: its source text, its name and its arguments.
    pub fn identity(&self, arguments: &Arguments) -> String {
        serde_json::json!([self, arguments]).to_string()
    }
}

/// Converts an exception of Python to a refusal. An exception of Weft itself already contains a problem and a remedy.
pub fn refusal(py: Python<'_>, problem: &PyErr, path: &str) -> Refusal {
    errors::keep_interruption(py, problem);
    let text = |name: &str| problem.value(py).getattr(name).and_then(|text| text.extract::<String>());
    match (text("what"), text("help")) {
        (Ok(what), Ok(help)) => Refusal::new(path, what, help),
        (_, _) => Refusal::new(path, problem.to_string(), "correct the function"),
    }
}

/// A cache of the last tables that were computed by calls of Python functions. Weft converts a scenario to the input of the engine several
/// times before the run, and the cache avoids repeated calls.
pub struct Known<T>(Mutex<Vec<(String, T)>>);

/// Maximum number of tables in the cache.
const MOST_KNOWN: usize = 16;

impl<T: Clone> Known<T> {
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the table with this identity from the cache; if the cache does not contain it, `make` computes it.
    pub fn get(&self, identity: String, make: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        let found = self.all().iter().find(|(known, _)| *known == identity).map(|(_, table)| table.clone());
        if let Some(table) = found {
            return Ok(table);
        }
        // the mutex is not locked while Python runs, because Python may call this function again
        let table = make()?;
        let mut all = self.all();
        if all.len() == MOST_KNOWN {
            all.remove(0);
        }
        all.push((identity, table.clone()));
        Ok(table)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<(String, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'de> Deserialize<'de> for PythonFunction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = String::deserialize(deserializer)?;
        let parts = written.rsplit_once(':').filter(|(file, name)| is_python(file) && is_name(name));
        let Some((file, name)) = parts else {
            let help = "write FILE.py:FUNCTION, such as my_ideas.py:destination";
            return Err(D::Error::custom(format!("{written:?} does not name a file and a function\n{help}")));
        };
        let file = InputFile::deserialize(IntoDeserializer::<D::Error>::into_deserializer(file))?;
        Ok(Self { file, name: name.to_owned() })
    }
}

/// True if the string names a Python file, as a person writes it or with its digest.
fn is_python(file: &str) -> bool {
    file.split_once('#').map_or(file, |(name, _)| name).ends_with(".py")
}

fn is_name(name: &str) -> bool {
    let first = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
    first && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

impl Serialize for PythonFunction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = serde_json::to_value(&self.file).map_err(serde::ser::Error::custom)?;
        serializer.collect_str(&format_args!("{}:{}", file.as_str().unwrap_or_default(), self.name))
    }
}

impl JsonSchema for PythonFunction {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PythonFunction".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "examples": ["my_ideas.py:my_function"] })
    }
}

impl JsonSchema for Argument {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Argument".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number", "boolean", "array"] })
    }
}
