//! Which routing goes with which policy and with faults: this follows from what one needs and the other offers, never
//! from their names.

use crate::api::policy::{LinkKnowledge, Offers};
use crate::api::subnetworks::Subnets;
use crate::models::power::PolicyConfig;
use crate::models::routing::RoutingConfig;
use crate::network::spec::Spec;
use crate::state::LinkState;
use weft_units::Refusal;

/// The subnetworks whose links the routing knows.
pub(crate) fn subnetworks(spec: &Spec) -> Option<Subnets> {
    match spec.routing.knowledge_of_links() {
        LinkKnowledge::Subnetworks => Subnets::of(&spec.graph),
        LinkKnowledge::Nothing | LinkKnowledge::Stages => None,
    }
}

/// The names of all routings that need exactly this knowledge of links.
fn routings_that_know(known: LinkKnowledge) -> Vec<&'static str> {
    let able = RoutingConfig::ABOUT.iter().filter(|(_, about)| about.links == known && known != LinkKnowledge::Nothing);
    able.map(|&(name, _)| name).collect()
}

/// The policies that go with a routing that needs this knowledge; those that offer exactly it come first.
fn policies_for(need: LinkKnowledge) -> Vec<&'static str> {
    let exactly = PolicyConfig::OFFERS.iter().filter(|(_, offers)| offers.links == need && offers.suit(need));
    let whatever = PolicyConfig::OFFERS.iter().filter(|(_, offers)| offers.links != need && offers.suit(need));
    exactly.chain(whatever).map(|&(name, _)| name).collect()
}

/// Joins names as in "a, b or c".
fn one_of(names: &[&str]) -> String {
    match names {
        [] => "none".to_owned(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}

/// Refuses a policy that would switch links to terminals off.
pub(crate) fn check_terminal_links(spec: &Spec) -> Result<(), Refusal> {
    if spec.managed[0] && spec.policy.states() != [LinkState::On] {
        let what = "terminal links always stay on in this version";
        return Err(Refusal::new("power.manages", what, "leave terminal out of manages"));
    }
    Ok(())
}

/// Refuses a policy that does not go with the routing.
pub(crate) fn check(spec: &Spec) -> Result<(), Refusal> {
    let (policy, routing) = (spec.policy.name(), spec.routing.name());
    let (offers, need) = (spec.policy.offers(), spec.routing.knowledge_of_links());
    if offers.suit(need) {
        return Ok(());
    }
    let fitting = one_of(&policies_for(need));
    if need == LinkKnowledge::Nothing {
        let able = one_of(&routings_that_know(offers.links));
        return Err(Refusal::new(
            format!("power.policy.{policy}"),
            format!("{routing} is blind to link states: it would send packets to links that {policy} turns off"),
            format!("set routing: {able}, or power.policy to {fitting}"),
        ));
    }
    let known = need.words();
    Err(Refusal::new(
        format!("routing.{routing}"),
        format!("{routing} goes by {known}, but {policy} switches links another way and can't tell it"),
        format!("set power.policy to {fitting}, or take another routing"),
    ))
}

/// Whether packets find a path round a failed link: the policy switches other links on, and tells the routing which
/// links of its subnetworks are on. The loop looks for other paths in subnetworks only.
fn goes_round_faults(offers: Offers, need: LinkKnowledge) -> bool {
    offers.replaces_failed_links && offers.links == need && need == LinkKnowledge::Subnetworks
}

/// Refuses faults under a policy and a routing that can't handle them.
pub(crate) fn check_faults(spec: &Spec) -> Result<(), Refusal> {
    let (policy, routing) = (spec.policy.name(), spec.routing.name());
    if goes_round_faults(spec.policy.offers(), spec.routing.knowledge_of_links()) {
        return spec.policy.model().check_faults();
    }
    let able = PolicyConfig::OFFERS.iter().filter(|(_, offers)| goes_round_faults(*offers, offers.links));
    let ways = able.map(|(name, offers)| {
        format!("power.policy: {name} and routing: {}", one_of(&routings_that_know(offers.links)))
    });
    let what = format!("under {policy} and {routing} nothing finds a way round a link or router that fails");
    let help = format!("write {}, or leave faults out", ways.collect::<Vec<_>>().join(", or "));
    Err(Refusal::new("faults", what, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_need_a_policy_and_a_routing_that_know_the_links_of_subnetworks() {
        use LinkKnowledge::{Nothing, Stages, Subnetworks};
        let offers = |links| Offers { links, replaces_failed_links: true, ..Offers::ALWAYS_ON };
        assert!(goes_round_faults(offers(Subnetworks), Subnetworks));
        for same in [Nothing, Stages] {
            assert!(!goes_round_faults(offers(same), same), "both know {same:?}");
        }
        assert!(!goes_round_faults(offers(Subnetworks), Nothing));
        let replaces_none = Offers { links: Subnetworks, ..Offers::ALWAYS_ON };
        assert!(!goes_round_faults(replaces_none, Subnetworks));
    }
}
