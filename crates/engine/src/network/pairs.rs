//! Checks which routings and policies are compatible, and chooses the model that finds detours around faults. The checks and the choice
//! depend on the needs and offers of the models, never on their names.

use crate::network::policy::with_site;
use crate::network::spec::Spec;
use weft_api::policy::{LinkKnowledge, Offers};
use weft_api::routing::{About, AroundFaults, Routing};
use weft_api::subnetworks::Subnets;
use weft_kernel::net::Repair;
use weft_models::power::PolicyConfig;
use weft_models::routing::RoutingConfig;
use weft_units::Refusal;

/// The kind of information about links that the policy gives to the routing; `None` if the routing cannot use the information.
pub(crate) fn known_links(spec: &Spec) -> Option<LinkKnowledge> {
    let links = spec.policy.offers().links;
    (links != LinkKnowledge::Nothing && spec.routing.knowledge_of_links().contains(&links)).then_some(links)
}

/// The subnetworks for whose links the routing has information: the routing always reads their states, or this policy reports them.
pub(crate) fn subnetworks(spec: &Spec) -> Option<Subnets> {
    let always = spec.routing.knowledge_of_links() == [LinkKnowledge::Subnetworks];
    let knows = always || known_links(spec) == Some(LinkKnowledge::Subnetworks);
    knows.then(|| Subnets::of(&spec.graph)).flatten()
}

/// Refuses a policy that switches off links that the routing needs. A policy is accepted if packets wait for dark links, or if links never
/// go off, because packets can then use every link at some time.
pub(crate) fn check_links(spec: &Spec, routing: &dyn Routing) -> Result<(), Refusal> {
    match known_links(spec) {
        Some(_) if !spec.policy.stays_on() => routing.check_links(&spec.managed),
        Some(_) | None => Ok(()),
    }
}

/// Names of the routings that use the information `known` about links and, with their default parameters, work on this network. Only
/// routings for which the links have enough VCs are listed.
fn routings_that_know(known: LinkKnowledge, spec: &Spec) -> Vec<String> {
    let knows = |links: &[LinkKnowledge]| links.contains(&known) && known != LinkKnowledge::Nothing;
    let able = RoutingConfig::declared().filter(|(_, about)| knows(about.links) && about.routes_graph(&spec.graph));
    let spared = |name: &&'static str| {
        let config = serde_json::from_str::<RoutingConfig>(&format!("{{\"{name}\": {{}}}}")).ok();
        let routing = config.and_then(|config| config.build(&spec.graph).ok());
        routing.is_some_and(|mut routing| {
            routing.go_by(known);
            let needs = routing.needs();
            let has_vcs = spec.links.iter().enumerate().all(|(class, link)| needs.least_vcs(class) <= link.vcs);
            has_vcs && routing.check_links(&spec.managed).is_ok()
        })
    };
    able.map(|(name, _)| name).filter(spared).map(str::to_owned).collect()
}

/// Names of the policies that work on the network of the spec and with a routing that uses the kinds of information `known`. Policies that
/// offer one of these kinds come first. Policies under which links carry packets in every cycle are compatible with every routing. Of
/// these, the list has only the policy that leaves all links on.
fn policies_for(known: &[LinkKnowledge], spec: &Spec) -> Vec<String> {
    let suits = |(_, offers): &(&'static str, Offers)| offers.suit(known) && !offers.always_carries;
    let exactly = PolicyConfig::declared().filter(suits).filter(|(_, offers)| known.contains(&offers.links));
    let whatever = PolicyConfig::declared().filter(suits).filter(|(_, offers)| !known.contains(&offers.links));
    exactly.chain(whatever).filter_map(|(name, _)| written(name, spec)).collect()
}

/// A policy as a scenario writes it: its name, with the parameters of its example if parameters are required. `None` if the policy does not
/// work on the network of the spec, or with its faults.
fn written(name: &str, spec: &Spec) -> Option<String> {
    let read = |text: &str| serde_json::from_str::<PolicyConfig>(text).ok();
    let (text, config) = match read(&format!("{{\"{name}\": {{}}}}")) {
        Some(config) => (name.to_owned(), config),
        None => {
            let example = PolicyConfig::examples().into_iter().find(|example| example.name() == name)?;
            // the examples of models assume cycles of 1 ns; examples that give times in cycles fit any cycle
            let json =
                serde_json::to_string(&example).ok()?.replace("ns\"", "cycles\"").replace("\"0fs\"", "\"0cycles\"");
            let config = read(&json)?;
            (json.replace('"', "").replace(':', ": ").replace(',', ", "), config)
        }
    };
    let works = with_site(spec, |site| config.model().build(site)).is_ok();
    (works && (spec.faults.is_empty() || works_with_faults(&config, spec))).then_some(text)
}

/// Whether [`check_faults`] accepts the spec with this policy.
fn works_with_faults(policy: &PolicyConfig, spec: &Spec) -> bool {
    let (offers, known) = (policy.offers(), spec.routing.knowledge_of_links());
    let reads_subnetworks = offers.links == LinkKnowledge::Subnetworks && known.contains(&offers.links);
    let avoids = !reads_subnetworks && offers.control_packets.is_empty();
    (goes_round_faults(offers, &spec.routing.about()) || avoids) && policy.model().check_faults().is_ok()
}

/// Joins names into a string such as "a, b or c".
fn one_of(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        [name] => name.clone(),
        [names @ .., last] => format!("{} or {last}", names.join(", ")),
    }
}

/// Refuses a policy that would switch off links to terminals although packets do not wait for links: a terminal has no other link.
pub(crate) fn check_terminal_links(spec: &Spec) -> Result<(), Refusal> {
    if spec.managed[0] && spec.switches_links() && !spec.policy.offers().packets_wait_for_links {
        let name = spec.policy.name();
        let what = format!(
            "under {name} packets avoid links that are off, but a packet cannot avoid the link of its terminal"
        );
        return Err(Refusal::new(
            "power.manages",
            what,
            "leave terminal out of manages: all means the links between routers",
        ));
    }
    Ok(())
}

/// Refuses a policy that is incompatible with the routing.
pub(crate) fn check(spec: &Spec) -> Result<(), Refusal> {
    let (policy, routing) = (spec.policy.name(), spec.routing.name());
    let (offers, known) = (spec.policy.offers(), spec.routing.knowledge_of_links());
    if offers.suit(known) {
        return Ok(());
    }
    let fitting = one_of(&policies_for(known, spec));
    let goes_by: Vec<&str> =
        known.iter().filter(|&&known| known != LinkKnowledge::Nothing).map(|known| known.words()).collect();
    if goes_by.is_empty() {
        let able = match routings_that_know(offers.links, spec).as_slice() {
            [] => String::new(),
            able => format!("set routing: {}, or ", one_of(able)),
        };
        return Err(Refusal::new(
            format!("power.policy.{policy}"),
            format!("{routing} does not read link states and would send packets to links that {policy} switches off"),
            format!("{able}set power.policy: {fitting}"),
        ));
    }
    let goes_by = goes_by.join(" or ");
    Err(Refusal::new(
        format!("routing.{routing}"),
        format!("{routing} needs to know {goes_by}, but {policy} switches links in another way and does not report it"),
        format!("set power.policy: {fitting}, or choose another routing"),
    ))
}

/// Whether packets find a path round a failed link. For such a path, the policy must activate other links, and must report the links of
/// subnetworks that are on. The routing must use these links. The cycle loop searches for other paths only inside subnetworks.
fn goes_round_faults(offers: Offers, about: &About) -> bool {
    let tells = offers.links == LinkKnowledge::Subnetworks && about.links.contains(&offers.links);
    offers.replaces_failed_links && tells && about.takes_replacements
}

/// Whether the policy of the spec replaces links that fail.
pub(crate) fn replaces_faults(spec: &Spec) -> bool {
    goes_round_faults(spec.policy.offers(), &spec.routing.about())
}

/// Whether a part fails during the run and the routing then computes new paths. This function does not build the routing.
pub(crate) fn rebuilds(spec: &Spec) -> bool {
    !spec.faults.is_empty() && !replaces_faults(spec) && spec.routing.rebuilds()
}

/// The model that finds detours around failed parts: the policy if it replaces links, otherwise the routing.
pub(crate) fn repair(spec: &Spec, routing: &dyn Routing) -> Repair {
    if spec.faults.is_empty() {
        Repair::Unneeded
    } else if replaces_faults(spec) {
        Repair::ByPolicy
    } else if spec.routing.rebuilds() {
        Repair::ByRouting(AroundFaults::Rebuilds)
    } else {
        Repair::ByRouting(routing.around_faults())
    }
}

/// Refuses faults if the routing reads the states of links in its subnetworks, and the policy switches links off without replacing failed
/// ones. Reason: the routing could not distinguish a broken link from a link that is off. Also refuses faults if a broken link would lose
/// control packets of the policy.
pub(crate) fn check_faults(spec: &Spec) -> Result<(), Refusal> {
    let (policy, offers) = (spec.policy.name(), spec.policy.offers());
    if replaces_faults(spec) {
        return spec.policy.model().check_faults();
    }
    let (routing, known) = (spec.routing.name(), spec.routing.knowledge_of_links());
    // if links never go off, every link that a head finds off has failed, and the head takes another hop
    if known_links(spec) == Some(LinkKnowledge::Subnetworks) {
        let about = spec.routing.about();
        let able = PolicyConfig::declared().filter(|(_, offers)| {
            let stays = offers.links == LinkKnowledge::Nothing && offers.suit(known) && !offers.always_carries;
            goes_round_faults(*offers, &about) || stays
        });
        let able: Vec<String> = able.filter_map(|(name, _)| written(name, spec)).collect();
        let words = LinkKnowledge::Subnetworks.words();
        let what = match offers.replaces_failed_links {
            true => format!("{routing} does not use the links that {policy} switches on to replace failed links"),
            false => format!("{routing} needs to know {words}, but {policy} does not replace links that fail"),
        };
        let set = if able.is_empty() { String::new() } else { format!("set power.policy: {}, or ", one_of(&able)) };
        let help = format!("{set}remove the faults");
        return Err(Refusal::new("faults", what, help));
    }
    if offers.control_packets.is_empty() {
        return spec.policy.model().check_faults();
    }
    let what = format!("{policy} sends control packets over links, but does not replace links that fail");
    let help =
        format!("set power.policy: {}, or remove the faults", one_of(&policies_for(&[LinkKnowledge::Nothing], spec)));
    Err(Refusal::new("faults", what, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_need_a_policy_and_a_routing_that_know_the_links_of_subnetworks() {
        use LinkKnowledge::{Nothing, Stages, Subnetworks, Widths};
        let offers = |links| Offers { links, replaces_failed_links: true, ..Offers::ALWAYS_ON };
        let about = |links| About {
            routes: "",
            fits: |_| true,
            links,
            takes_replacements: true,
            can_be_a_leg: false,
            few_classes: false,
        };
        assert!(goes_round_faults(offers(Subnetworks), &about(&[Subnetworks])));
        for same in [&[Nothing], &[Stages], &[Widths]] {
            assert!(!goes_round_faults(offers(same[0]), &about(same)), "both know {same:?}");
        }
        assert!(!goes_round_faults(offers(Subnetworks), &about(&[Nothing])));
        assert!(!goes_round_faults(offers(Subnetworks), &About { takes_replacements: false, ..about(&[Subnetworks]) }));
        let replaces_none = Offers { links: Subnetworks, ..Offers::ALWAYS_ON };
        assert!(!goes_round_faults(replaces_none, &about(&[Subnetworks])));
    }
}
