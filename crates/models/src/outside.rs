//! Models that crates outside of this repository bring: routings, power policies and workloads. [`Models`] is the table from
//! their names to their constructors, beside the registries. A recording needs none: a run takes it as
//! `weft_api::recording::Asked`.

use crate::power::PolicyConfig;
use crate::routing::RoutingConfig;
use crate::workload::WorkloadConfig;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use weft_api::outside::Outside;
use weft_api::policy::{Offers, PolicyModel};
use weft_api::routing::{About, AnyRoutingModel, RoutingModel};
use weft_api::workload::WorkloadModel;
use weft_units::Refusal;

pub type OutsideRouting = Outside<dyn AnyRoutingModel + Send + Sync, About>;
pub type OutsidePolicy = Outside<dyn PolicyModel + Send + Sync, Offers>;
pub type OutsideWorkload = Outside<dyn WorkloadModel + Send + Sync>;

/// A configuration from outside can be written as JSON and read from it.
pub trait Configuration: Serialize + DeserializeOwned + Send + Sync + 'static {}

impl<M: Serialize + DeserializeOwned + Send + Sync + 'static> Configuration for M {}

impl RoutingConfig {
    /// A routing that no registry knows.
    pub fn outside<M: RoutingModel + Configuration>(name: &'static str, model: M) -> Self {
        Self::Outside(Outside::new(name, model, M::ABOUT, |model| model))
    }
}

impl PolicyConfig {
    /// A power policy that no registry knows. `offers`: its offers to routings and faults.
    pub fn outside<M: PolicyModel + Configuration>(name: &'static str, offers: Offers, model: M) -> Self {
        Self::Outside(Outside::new(name, model, offers, |model| model))
    }
}

impl WorkloadConfig {
    /// A workload that no registry knows.
    pub fn outside<M: WorkloadModel + Configuration>(name: &'static str, model: M) -> Self {
        Self::Outside(Outside::new(name, model, (), |model| model))
    }
}

/// Makes a member of a family from its parameters.
type Constructor<C> = Arc<dyn Fn(Value) -> serde_json::Result<C> + Send + Sync>;

/// The members of one family from outside, by name.
#[derive(Clone)]
struct Table<C>(BTreeMap<&'static str, Constructor<C>>);

/// The models from outside that a program knows. Each is read from the same text as a registered one: its name, and its
/// parameters behind it.
#[derive(Debug, Clone, Default)]
pub struct Models {
    routings: Table<RoutingConfig>,
    policies: Table<PolicyConfig>,
    workloads: Table<WorkloadConfig>,
}

impl Models {
    /// Adds a routing.
    ///
    /// # Panics
    /// As the other functions that add: if the name is that of a registered model, or was added before.
    #[must_use]
    pub fn with_routing<M: RoutingModel + Configuration>(mut self, name: &'static str) -> Self {
        let make = move |parameters| Ok(RoutingConfig::outside(name, serde_json::from_value::<M>(parameters)?));
        self.routings.add(name, RoutingConfig::NAMES, Arc::new(make));
        self
    }

    /// Adds a power policy. `offers`: its offers to routings and faults.
    #[must_use]
    pub fn with_policy<M: PolicyModel + Configuration>(mut self, name: &'static str, offers: Offers) -> Self {
        let make = move |parameters| Ok(PolicyConfig::outside(name, offers, serde_json::from_value::<M>(parameters)?));
        self.policies.add(name, PolicyConfig::NAMES, Arc::new(make));
        self
    }

    /// Adds a workload.
    #[must_use]
    pub fn with_workload<M: WorkloadModel + Configuration>(mut self, name: &'static str) -> Self {
        let make = move |parameters| Ok(WorkloadConfig::outside(name, serde_json::from_value::<M>(parameters)?));
        self.workloads.add(name, WorkloadConfig::NAMES, Arc::new(make));
        self
    }

    /// Reads a routing, from outside or registered, as `{"name": {parameters}}`. The refusal is at `path`.
    pub fn routing(&self, json: &str, path: &str) -> Result<RoutingConfig, Refusal> {
        self.routings.read(json, path, RoutingConfig::NAMES)
    }

    /// Reads a power policy in the same way.
    pub fn policy(&self, json: &str, path: &str) -> Result<PolicyConfig, Refusal> {
        self.policies.read(json, path, PolicyConfig::NAMES)
    }

    /// Reads a workload in the same way.
    pub fn workload(&self, json: &str, path: &str) -> Result<WorkloadConfig, Refusal> {
        self.workloads.read(json, path, WorkloadConfig::NAMES)
    }
}

impl<C: DeserializeOwned> Table<C> {
    fn add(&mut self, name: &'static str, registered: &[&str], constructor: Constructor<C>) {
        assert!(!registered.contains(&name), "{name} is the name of a registered model: choose another one");
        assert!(
            self.0.insert(name, constructor).is_none(),
            "{name} is added twice: choose another name for one of them"
        );
    }

    fn read(&self, json: &str, path: &str, registered: &[&str]) -> Result<C, Refusal> {
        let value: Value = serde_json::from_str(json).map_err(|error| {
            Refusal::new(path, format!("{error} in {json}"), "write JSON: {\"NAME\": {PARAMETERS}}")
        })?;
        let Some((name, parameters)) = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.iter().next())
        else {
            let what = format!("{json} is not one model");
            return Err(Refusal::new(path, what, "write one name with its parameters: {\"NAME\": {PARAMETERS}}"));
        };
        let at = format!("{path}.{name}");
        let refused = |error: serde_json::Error| {
            Refusal::new(&*at, format!("{error}"), "write the parameters that the configuration of this model has")
        };
        if let Some(constructor) = self.0.get(&**name) {
            return constructor(parameters.clone()).map_err(refused);
        }
        if !registered.contains(&&**name) {
            let names: Vec<&str> = self.0.keys().chain(registered).copied().collect();
            let what = format!("no model has the name {name}");
            let help = format!("write one of {}, or add the model to `Models`", names.join(", "));
            return Err(Refusal::new(path, what, help));
        }
        serde_json::from_value(value.clone()).map_err(refused)
    }
}

impl<C> Default for Table<C> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<C> fmt::Debug for Table<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
