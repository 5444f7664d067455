//! Builds the routing of a run from its spec.

use crate::network::pairs;
use crate::network::policy;
use crate::network::spec::Spec;
use weft_api::routing::AnyRouting;
use weft_units::Refusal;

/// Builds the routing of a run, in its state at the beginning of the run.
pub(crate) fn routing(spec: &Spec) -> Result<Box<dyn AnyRouting>, Refusal> {
    let mut routing = spec.routing.build(&spec.graph)?;
    if let Some(links) = pairs::known_links(spec) {
        routing.go_by(links);
    }
    if let Some(number) = policy::with_site(spec, |site| spec.policy.model().first_published(site)) {
        routing.begin_with(number);
    }
    Ok(routing)
}
