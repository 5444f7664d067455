//! Replaces all parallel links of a class between two routers by one link, whose bandwidth is the sum of their bandwidths.

use super::check::classes;
use super::draft::{Draft, Link, Parallel, Problem, Stated};
use super::parallel::{Bundle, bundles};
use crate::graph::facts::{Facts, Sum};
use std::collections::HashMap;

/// Replaces all parallel links of a class between two routers by one link. The new link has a separate class, such as `link_x4` for 4
/// links of the class `link`.
pub fn add_up(draft: &mut Draft) -> Result<(), Problem> {
    let (_, numbers) = classes(draft)?;
    let of_number: HashMap<u8, u32> = numbers.iter().copied().zip(0..).collect();
    let found = bundles(draft, &numbers)?;
    let mut sums: HashMap<(u32, u32), u32> = HashMap::new();
    let mut links = Vec::with_capacity(found.len());
    for Bundle { pair: (a, b), class, back, width, place } in found {
        for (from, to, number) in [(a, b, class), (b, a, back)] {
            let one = of_number[&number];
            let class = match sums.get(&(one, width)) {
                _ if width == 1 => one,
                Some(&known) => known,
                None => new_class(draft, one, width)?,
            };
            sums.insert((one, width), class);
            links.push(Link { from, to, class, place });
        }
    }
    (draft.links, draft.stated, draft.parallel) = (links, Stated::BothWays, Parallel::Links);
    Ok(())
}

/// Adds the class of links that each replace `links` links of the class `one`.
fn new_class(draft: &mut Draft, one: u32, links: u32) -> Result<u32, Problem> {
    let class = draft.classes[one as usize].clone();
    let name = format!("{class}_x{links}");
    if draft.classes.contains(&name) {
        let what = format!(
            "`{name}` is a class of the file, but also the name for the sum of {links} links of the class `{class}`"
        );
        return Err(Problem::new(what, "give the class of the file another name, or write `parallel_links: trunk`"));
    }
    let facts = &draft.facts[one as usize];
    let bandwidth = facts.bandwidth.map(|bandwidth| bandwidth.times(links));
    let facts = Facts { bandwidth, sum_of: Some(Sum { class, links }), ..facts.clone() };
    draft.classes.push(name);
    draft.facts.push(facts);
    draft.sections.push(false);
    Ok(draft.classes.len() as u32 - 1)
}
