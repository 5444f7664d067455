//! The JSON Schema of the configuration types. The schema is published for users. Weft also checks keys, names of models and paths with it.

use crate::config::Scenario;
use crate::diagnostic::nearest;
use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use weft_programs::generators::ProgramFile;
use weft_units::InputFile;

static TYPES: LazyLock<Value> = LazyLock::new(|| schema_for!(Scenario).to_value());
/// The schema of files with the parameters of a program. References (`$ref`) in this schema are looked up in [`TYPES`], which contains the
/// same types under the same names.
static PROGRAM_FILE: LazyLock<Value> = LazyLock::new(|| schema_for!(ProgramFile).to_value());

/// A position in the schema. References (`$ref`) are followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema(&'static Value);

/// The kinds of values that are possible at a position.
pub(crate) enum View {
    /// A mapping that may contain only these keys.
    Keys { keys: Vec<(&'static str, Schema)>, required: Vec<&'static str> },
    /// A mapping in which any key is possible.
    Map(Schema),
    /// A model from this list: its name alone, or a mapping from the name to its parameters.
    Models(Vec<(&'static str, Schema)>),
    /// A word from this list.
    Words(Vec<&'static str>),
    /// A list; each element has this schema.
    Items(Schema),
    /// A number, a string, or a quantity (a number with a unit).
    Plain,
}

impl Schema {
    pub fn root() -> Self {
        Self(&TYPES)
    }

    /// The schema of a file with the parameters of a program.
    pub fn program_file() -> Self {
        Self(&PROGRAM_FILE)
    }

    /// True if the value can be a time.
    pub fn is_time(&self) -> bool {
        self.ends_in("|cycles?")
    }

    /// True if the value can be a number of flits.
    pub fn is_flits(&self) -> bool {
        self.ends_in(" ?flits?")
    }

    /// True if times at and below this position are times of computers and not of the network. Times of computers need not be whole cycles.
    pub fn is_exact(&self) -> bool {
        self.0["x-exact"] == true
    }

    /// True if the pattern of the string ends in these units, possibly followed by closing brackets.
    fn ends_in(&self, units: &str) -> bool {
        let pattern = self.target().get("pattern").and_then(Value::as_str);
        pattern.is_some_and(|pattern| pattern.trim_end_matches([')', '$']).ends_with(units))
    }

    pub fn description(&self) -> Option<&'static str> {
        self.0.get("description").or_else(|| self.target().get("description"))?.as_str()
    }

    /// True if the value can be `null`.
    pub fn is_optional(&self) -> bool {
        or_null(self.0).is_some()
    }

    /// The schema of the value, after following `$ref` and removing the "or null" of an optional field.
    fn target(&self) -> &'static Value {
        let mut schema = self.0;
        // a limited number of references is enough, because types are not recursive
        for _ in 0..16 {
            if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
                schema = TYPES.pointer(name.trim_start_matches('#')).unwrap_or(&Value::Null);
            } else if let Some(some) = or_null(schema) {
                schema = some;
            }
        }
        schema
    }

    pub fn view(&self) -> View {
        let schema = self.target();
        if let Some(Value::Array(choices)) = schema.get("oneOf") {
            return of_choices(choices);
        }
        if let Some(Value::Array(words)) = schema.get("enum") {
            return View::Words(words.iter().filter_map(Value::as_str).collect());
        }
        if let Some(items) = schema.get("items") {
            return View::Items(Self(items));
        }
        match (schema.get("properties"), schema.get("additionalProperties"), &schema["type"]) {
            (Some(Value::Object(keys)), _, _) => {
                let required = schema.get("required").and_then(Value::as_array);
                View::Keys {
                    keys: keys.iter().map(|(key, value)| (key.as_str(), Self(value))).collect(),
                    required: required.into_iter().flatten().filter_map(Value::as_str).collect(),
                }
            }
            (None, Some(values @ Value::Object(_)), _) => View::Map(Self(values)),
            (None, _, Value::String(name)) if name == "object" => View::Keys { keys: Vec::new(), required: Vec::new() },
            _ => View::Plain,
        }
    }

    /// True if the value can be a list with this number of elements.
    pub fn takes_items(&self, count: usize) -> bool {
        let schema = self.target();
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
        schema["type"] == "array" && (least..=most).contains(&(count as u64))
    }

    /// The model that a user means by a different word, for a remedy. The schema of a model lists such words in `x-also`.
    pub fn model_meant_by(&self, word: &str) -> Option<&'static str> {
        let choices = self.target().get("oneOf")?.as_array()?;
        choices.iter().find(|choice| lists_also(choice, word)).and_then(model).map(|(name, _)| name)
    }

    /// True if users write this name by mistake for the key at this position.
    fn is_also(&self, name: &str) -> bool {
        lists_also(self.0, name)
    }

    /// True if the value can be a mapping or a single value, such as one number for all keys.
    pub fn is_map_or_value(&self) -> bool {
        let types = self.target()["type"].as_array();
        types.is_some_and(|types| types.iter().any(|name| name != "object" && name != "null"))
    }

    /// The remedy if this path requires a list of any length; `None` if the value can also be something else.
    pub fn list_of(&self, path: &str) -> Option<String> {
        let schema = self.target();
        if schema["type"] != "array" || schema.get("maxItems").is_some() {
            return None;
        }
        let element = match Self(&schema["items"]).view() {
            View::Keys { keys, .. } => {
                let keys: Vec<_> = keys.iter().map(|(key, _)| format!("{key}: ...")).collect();
                format!("{{{}}}", keys.join(", "))
            }
            View::Map(_) | View::Models(_) | View::Words(_) | View::Items(_) | View::Plain => "...".to_owned(),
        };
        let near = self.sibling(path).map(|other| format!("did you mean `{other}`? ")).unwrap_or_default();
        let about = self.description().map(|about| format!(": {about}")).unwrap_or_default();
        Some(format!("{near}`{path}` is a list, [{element}, ...]{about}"))
    }

    /// A key with a single value and almost the same name as the key at this path, in the same section.
    fn sibling(&self, path: &str) -> Option<String> {
        let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
        let mut names = above.split('.').filter(|name| !name.is_empty());
        let section = names.try_fold(Self::root(), |schema, name| schema.child(name))?;
        let View::Keys { keys, .. } = section.view() else { return None };
        let single = keys.iter().filter(|(key, schema)| *key != name && matches!(schema.view(), View::Plain));
        let other = nearest(name, single.map(|(key, _)| *key))?;
        Some(if above.is_empty() { other.to_owned() } else { format!("{above}.{other}") })
    }

    /// The position of a key, a model or a list element below this position.
    pub fn child(&self, name: &str) -> Option<Self> {
        match self.view() {
            View::Keys { keys: named, .. } | View::Models(named) => {
                named.into_iter().find(|(key, _)| *key == name).map(|(_, schema)| schema)
            }
            View::Map(values) | View::Items(values) => Some(values),
            View::Words(_) | View::Plain => None,
        }
    }
}

/// Maximum number of nested sections in which `places` searches a key. Without this limit the search would not end, because patterns can
/// contain patterns.
const DEEPEST: usize = 4;

/// Part of a path that represents the index of any list element.
pub(crate) const ANY_ELEMENT: &str = "N";

/// Dotted paths of all keys with this name. Only the paths with the fewest parts are returned. A key for which users write this name by
/// mistake also counts; the schema of the key lists such names in `x-also`.
pub(crate) fn places(name: &str) -> Vec<String> {
    places_below(Schema::root(), "", name)
}

/// Dotted paths of the keys that `places` would return, but only in the top section that contains `path`.
pub(crate) fn places_around(name: &str, path: &str) -> Vec<String> {
    let top = path.split('.').next().unwrap_or_default();
    Schema::root().child(top).map(|schema| places_below(schema, top, name)).unwrap_or_default()
}

fn places_below(schema: Schema, section: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), name, &mut found);
    let least = found.iter().map(Vec::len).min();
    let nearest = found.into_iter().filter(|place| Some(place.len()) == least);
    nearest
        .map(|place| if section.is_empty() { place.join(".") } else { format!("{section}.{}", place.join(".")) })
        .collect()
}

/// Dotted path of the innermost section that contains `path` and has a key of exactly this name.
pub(crate) fn section_around(name: &str, path: &str) -> Option<String> {
    let mut around = path.match_indices('.').map(|(end, _)| &path[..end]).rev();
    let has_key = |section: &&str| {
        let schema = section.split('.').try_fold(Schema::root(), |schema, name| schema.child(name));
        schema.is_some_and(
            |schema| matches!(schema.view(), View::Keys { keys, .. } if keys.iter().any(|(key, _)| *key == name)),
        )
    };
    around.find(has_key).map(str::to_owned)
}

/// Dotted path of a key with almost this name, in the sections that contain `path` or in a section below one of them. The innermost section
/// is searched first.
pub(crate) fn near(name: &str, path: &str) -> Option<String> {
    let around: Vec<&str> = path.match_indices('.').map(|(end, _)| &path[..end]).collect();
    around.into_iter().rev().find_map(|section| {
        let schema = section.split('.').try_fold(Schema::root(), |schema, name| schema.child(name))?;
        let View::Keys { keys, .. } = schema.view() else { return None };
        if let Some(key) = nearest(name, keys.iter().map(|(key, _)| *key)) {
            return Some(format!("{section}.{key}"));
        }
        keys.iter().find_map(|(below, schema)| {
            let View::Keys { keys, .. } = schema.view() else { return None };
            nearest(name, keys.iter().map(|(key, _)| *key)).map(|key| format!("{section}.{below}.{key}"))
        })
    })
}

fn collect(schema: Schema, place: &mut Vec<&'static str>, name: &str, found: &mut Vec<Vec<&'static str>>) {
    let below = match schema.view() {
        View::Keys { keys, .. } => {
            let meant = keys.iter().filter(|(key, schema)| *key == name || schema.is_also(name));
            found.extend(meant.filter(|_| !place.is_empty()).map(|(key, _)| [place.as_slice(), &[*key]].concat()));
            keys
        }
        View::Models(models) => models,
        // of the mappings in which any key is possible, only `links` is searched, in its section `default`
        View::Map(values) if place.last() == Some(&"links") => vec![("default", values)],
        View::Items(element) => vec![(ANY_ELEMENT, element)],
        View::Map(_) | View::Words(_) | View::Plain => Vec::new(),
    };
    if place.len() == DEEPEST {
        return;
    }
    for (key, schema) in below {
        place.push(key);
        collect(schema, place, name, found);
        place.pop();
    }
}

/// True if `x-also` of a schema lists this word.
fn lists_also(schema: &Value, word: &str) -> bool {
    schema["x-also"].as_array().is_some_and(|words| words.iter().any(|other| other == word))
}

/// The schema `X` in "X or null", the form in which the schema describes an optional field.
fn or_null(schema: &'static Value) -> Option<&'static Value> {
    let choices = schema.get("anyOf")?.as_array()?;
    let mut others = choices.iter().filter(|choice| choice["type"] != "null");
    others.next().filter(|_| others.next().is_none())
}

/// The possible values of an enum: models if each choice is an object with one key, otherwise words.
fn of_choices(choices: &'static [Value]) -> View {
    let models: Option<Vec<_>> = choices.iter().map(model).collect();
    match models {
        Some(models) => View::Models(models),
        None => {
            let words = choices.iter().flat_map(|choice| match (&choice["const"], &choice["enum"]) {
                (Value::String(word), _) => vec![word.as_str()],
                (_, Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            });
            View::Words(words.collect())
        }
    }
}

fn model(choice: &'static Value) -> Option<(&'static str, Schema)> {
    let keys = choice.get("properties")?.as_object().filter(|keys| keys.len() == 1)?;
    keys.iter().next().map(|(name, schema)| (name.as_str(), Schema(schema)))
}

/// The JSON Schema of a scenario file. In addition to the type `Scenario`, it allows the keys `sweep` and `zip`. It also allows the name of
/// a model without a mapping of parameters.
pub fn schema() -> Value {
    let mut schema = TYPES.clone();
    allow_bare_names(&mut schema);
    let lists = |description: &str| {
        json!({
            "type": "object",
            "description": description,
            "additionalProperties": { "type": "array", "minItems": 1 }
        })
    };
    schema["title"] = json!("Weft scenario");
    schema["properties"]["sweep"] =
        lists("Dotted paths and their values. Weft runs every combination; the first path changes slowest.");
    schema["properties"]["zip"] = lists("Dotted paths and lists of equal length, whose values advance together.");
    // removes the lists of required keys. A value can come from `sweep` or from the command line, so the file need not contain its key
    for path in ["", "/$defs/Traffic"] {
        if let Some(Value::Object(section)) = schema.pointer_mut(path) {
            section.remove("required");
        }
    }
    schema
}

/// Allows the name of a model alone, in addition to `{name: {parameters}}`.
fn allow_bare_names(schema: &mut Value) {
    if let Some(Value::Array(choices)) = schema.get_mut("oneOf") {
        let name = |choice: &Value| choice.get("properties")?.as_object()?.keys().next().cloned();
        if let Some(names) = choices.iter().map(name).collect::<Option<Vec<_>>>() {
            choices.push(json!({ "type": "string", "enum": names }));
        }
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(allow_bare_names),
        Value::Array(items) => items.iter_mut().for_each(allow_bare_names),
        _ => {}
    }
}

/// Every model that a scenario can name: for each family, a list of `name` and `summary`.
pub fn models() -> Value {
    let families = [
        ("topology", family::<weft_topology::TopologyConfig>()),
        ("routing", family::<weft_engine::routing::RoutingConfig>()),
        ("traffic.pattern", family::<weft_traffic::PatternConfig>()),
        ("traffic.injection", family::<weft_traffic::InjectionConfig>()),
        ("traffic.workload", family::<weft_engine::workload::WorkloadConfig>()),
        ("power.policy", family::<weft_engine::power::PolicyConfig>()),
        ("router.allocator", family::<weft_engine::allocation::AllocatorConfig>()),
        ("queueing", family::<weft_engine::queueing::QueueingConfig>()),
        ("congestion_control", family::<weft_engine::congestion::CongestionConfig>()),
        ("measure", family::<weft_engine::recording::RecordingConfig>()),
    ];
    Value::Object(families.into_iter().map(|(name, models)| (name.to_owned(), models)).collect())
}

/// The example configurations that models provide for tests: for each family, a list of configurations in the form that a scenario uses.
/// Some example routings work only on particular networks. Models that read a file are left out.
pub fn examples() -> Value {
    use weft_engine::{
        allocation::AllocatorConfig, congestion::CongestionConfig, power::PolicyConfig, queueing::QueueingConfig,
        routing::RoutingConfig, workload::WorkloadConfig,
    };
    let written = |config: RoutingConfig| serde_json::to_value(config).expect("a configuration");
    let routings = RoutingConfig::examples().into_iter().map(|example| written(example.config));
    let routings: Vec<Value> = routings.filter(|routing| !InputFile::is_named_in(&routing.to_string())).collect();
    json!({
        "routing": routings,
        "power.policy": PolicyConfig::examples(),
        "router.allocator": AllocatorConfig::examples(),
        "queueing": QueueingConfig::examples(),
        "congestion_control": CongestionConfig::examples(),
        "traffic.injection": weft_traffic::InjectionConfig::examples(),
        "traffic.workload": WorkloadConfig::examples(),
    })
}

/// The first sentence of a text with several lines.
fn first_sentence(text: &str) -> String {
    let paragraph = text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    // a full stop inside brackets, as in "et al. ", does not end a sentence
    let closed = |first: &str| first.matches('(').count() == first.matches(')').count();
    let ends = paragraph.match_indices(". ").map(|(at, _)| &paragraph[..=at]);
    ends.into_iter().find(|first| closed(first)).unwrap_or(&paragraph).to_owned()
}

fn family<T: JsonSchema>() -> Value {
    let schema = schema_for!(T).to_value();
    let choices = schema.get("oneOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let entry = |choice: &Value| {
        let (name, parameters) = choice.get("properties")?.as_object()?.iter().next()?;
        let reference = parameters.get("$ref").and_then(Value::as_str).unwrap_or("#");
        let target = schema.pointer(reference.trim_start_matches('#'));
        // the description of a variant has priority over the description of a parameter type that several variants share
        let text = choice.get("description").or_else(|| target?.get("description")).and_then(Value::as_str);
        let summary = text.map(first_sentence).unwrap_or_default();
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!(name));
        fields.insert("summary".to_owned(), json!(summary));
        Some(Value::Object(fields))
    };
    Value::Array(choices.iter().filter_map(entry).collect())
}
