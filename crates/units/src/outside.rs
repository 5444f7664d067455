//! Models that are defined in a crate outside of Weft. The crate adds each model to a family, e.g. the routings, with one line
//! ([`add_model!`](crate::add_model)). A program that links the crate reads the added model from a scenario by its name, and lists it like
//! a registered model.

use erased_serde::Deserializer as AnyText;
use inventory::Collect;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::Serialize;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error};
use serde_json::{Value, json};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The configuration of a model from another crate. A configuration can be written as text and read from text, and has a JSON Schema.
pub trait Configuration: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}

impl<M: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> Configuration for M {}

/// A model from another crate, in the form that its family stores. `M`: the trait of the family. `D`: the facts that each model of the
/// family declares, e.g. the needs of a routing.
pub struct Outside<M: ?Sized, D = ()> {
    name: &'static str,
    parameters: Value,
    declares: D,
    model: Arc<M>,
    /// The same model as `model`, for callers that know its concrete type.
    any: Arc<dyn Any + Send + Sync>,
}

impl<M: ?Sized, D: Copy> Outside<M, D> {
    /// Creates the stored form of `model`. Stored models with the same name are equal if their parameters are equal, so the parameters must
    /// determine the model completely. `share` converts the model to an object of the family's trait.
    ///
    /// # Panics
    /// If the parameters can't be written as JSON.
    pub fn new<T: Configuration>(name: &'static str, model: T, declares: D, share: fn(Arc<T>) -> Arc<M>) -> Self {
        let parameters = serde_json::to_value(&model)
            .unwrap_or_else(|error| panic!("the parameters of {name} can't be written as JSON: {error}"));
        let model = Arc::new(model);
        Self { name, parameters, declares, any: model.clone(), model: share(model) }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    pub fn declares(&self) -> D {
        self.declares
    }

    pub fn model(&self) -> &M {
        &self.model
    }

    pub fn any(&self) -> &dyn Any {
        &*self.any
    }
}

impl<M: ?Sized, D: Copy> Clone for Outside<M, D> {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            parameters: self.parameters.clone(),
            declares: self.declares,
            model: self.model.clone(),
            any: self.any.clone(),
        }
    }
}

impl<M: ?Sized, D> fmt::Debug for Outside<M, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.parameters)
    }
}

impl<M: ?Sized, D> PartialEq for Outside<M, D> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.parameters) == (other.name, &other.parameters)
    }
}

/// A model that another crate adds to the family `C`. [`registry!`](crate::registry) declares the family.
pub trait Addition<C>: Collect {
    fn name(&self) -> &'static str;

    /// Reads the model from its parameters in a scenario.
    fn read(&self, parameters: &mut dyn AnyText<'_>) -> Result<C, erased_serde::Error>;

    /// JSON Schema of the model's parameters.
    fn schema(&self) -> Schema;
}

/// A family of models that accepts models from other crates.
pub trait Open: Sized + 'static {
    type Added: Addition<Self>;

    /// The models that other crates add in this program, sorted by name.
    fn added() -> &'static [&'static Self::Added];
}

/// Sorts the models that other crates add to a family by name.
///
/// # Panics
/// If two added models have the same name.
pub fn in_order<C, A: Addition<C>>(additions: impl Iterator<Item = &'static A>) -> Vec<&'static A> {
    let mut all: Vec<&A> = additions.collect();
    all.sort_unstable_by_key(|added| added.name());
    for pair in all.windows(2) {
        let name = pair[0].name();
        assert!(name != pair[1].name(), "{name} is added twice: choose another name for one of them");
    }
    all
}

/// True if `name` is in `others`. The macros check at compile time that an added model does not have a registered name.
pub const fn is_taken(name: &str, others: &[&str]) -> bool {
    let mut k = 0;
    while k < others.len() {
        if is_same(name.as_bytes(), others[k].as_bytes()) {
            return true;
        }
        k += 1;
    }
    false
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut k = 0;
    while k < a.len() {
        if a[k] != b[k] {
            return false;
        }
        k += 1;
    }
    true
}

/// The registered names of a family, followed by the names of models from other crates.
pub fn names<C: Open>(registered: &[&'static str]) -> Vec<&'static str> {
    registered.iter().copied().chain(C::added().iter().map(|added| added.name())).collect()
}

/// Deserialises the parameters of a model from another crate.
pub struct Parameters<C: Open>(pub &'static C::Added);

impl<'de, C: Open> DeserializeSeed<'de> for Parameters<C> {
    type Value = C;

    fn deserialize<D: Deserializer<'de>>(self, parameters: D) -> Result<C, D::Error> {
        self.0.read(&mut <dyn AnyText<'_>>::erase(parameters)).map_err(D::Error::custom)
    }
}

/// A JSON Schema of `M` that includes all its parts and refers to no other schema.
pub fn schema_of<M: JsonSchema>() -> Schema {
    let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<M>();
    schema.remove("$schema");
    schema.remove("title");
    schema
}

/// Adds the models from other crates to the JSON Schema of their family.
pub fn describe<C: Open>(family: &mut Schema) {
    let Some(Value::Array(choices)) = family.get_mut("oneOf") else { return };
    choices.extend(C::added().iter().map(|added| {
        let parameters = added.schema();
        let mut choice = json!({
            "type": "object",
            "properties": { added.name(): parameters },
            "required": [added.name()],
            "additionalProperties": false,
        });
        if let Some(about) = parameters.get("description") {
            choice["description"] = about.clone();
        }
        choice
    }));
}

/// Adds a model to a family of Weft, under a name that no registered model has. The crate that defines the model calls the macro:
///
/// ```ignore
/// weft_units::add_model! { TopologyConfig: "bow_tie" => BowTie }
/// weft_units::add_model! { RoutingConfig: "highest_first" => HighestFirst, declares HighestFirst::ABOUT }
/// ```
///
/// Use `declares` in families whose models declare facts. A program knows the models of all crates that it links. Rust does not link a
/// crate that the program never names. Therefore the program must name the crate: `use my_models as _;`.
#[macro_export]
macro_rules! add_model {
    ($family:ty: $name:literal => $model:ty) => {
        $crate::add_model! { $family: $name => $model, declares () }
    };
    ($family:ty: $name:literal => $model:ty, declares $facts:expr) => {
        $crate::inventory::submit! { <$family as $crate::outside::Open>::Added::new::<$model>($name, $facts) }
    };
}
