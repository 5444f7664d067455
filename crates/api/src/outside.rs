//! Members of a family that a crate outside of Weft brings. No registry names them: the configuration of the family holds
//! each as a trait object, with its name and its parameters.

use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A member from outside. `M`: the trait of its family. `D`: the facts that each member of the family declares.
pub struct Outside<M: ?Sized, D = ()> {
    name: &'static str,
    parameters: Value,
    declares: D,
    model: Arc<M>,
}

impl<M: ?Sized, D: Copy> Outside<M, D> {
    /// The member of this name. Two members of one name are equal if their parameters are, so the parameters must determine the
    /// model. `share` hides its type.
    ///
    /// # Panics
    /// If the parameters can't be written as JSON.
    pub fn new<T: Serialize>(name: &'static str, model: T, declares: D, share: fn(Arc<T>) -> Arc<M>) -> Self {
        let parameters = serde_json::to_value(&model)
            .unwrap_or_else(|error| panic!("the parameters of {name} can't be written as JSON: {error}"));
        Self { name, parameters, declares, model: share(Arc::new(model)) }
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
}

impl<M: ?Sized, D: Copy> Clone for Outside<M, D> {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            parameters: self.parameters.clone(),
            declares: self.declares,
            model: self.model.clone(),
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
