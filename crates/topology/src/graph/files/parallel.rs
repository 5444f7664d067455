//! Puts the statements of a file about the links between two routers together.
//!
//! An undirected file states each link once, so two statements are two parallel links. A directed file states each link
//! once in each direction, so there are as many links as statements in one direction.

use super::draft::{Draft, Link, Parallel, Problem, Stated};

/// Parallel links of one class between two routers.
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    /// The routers, the smaller number first.
    pub pair: (u32, u32),
    /// Number of the class in the graph.
    pub class: u8,
    /// Number of links.
    pub width: u32,
    /// Where the file states the first of the links.
    pub place: u32,
}

fn pair(link: &Link) -> (u32, u32) {
    (link.from.min(link.to), link.from.max(link.to))
}

/// The links of a file by ascending pair of routers, then by class; `numbers` are those of the classes in the graph. Refuses loops, links of one direction, links whose
/// directions differ, and repeated links of a file that has no parallel ones.
pub fn bundles(draft: &Draft, numbers: &[u8]) -> Result<Vec<Bundle>, Problem> {
    if let Some(link) = draft.links.iter().find(|link| link.from == link.to) {
        let what = format!("{}: router {} is joined to itself", draft.place(link), draft.name(link.from));
        return Err(Problem::new(what, "remove the link"));
    }
    let mut sorted = draft.links.clone();
    let class = |link: &Link| numbers[link.class as usize];
    sorted.sort_by_key(|link| (pair(link), draft.stated != Stated::Once && link.from > link.to, class(link)));
    check_each_way(draft, &sorted)?;
    let mut bundles = Vec::with_capacity(sorted.len());
    for links in sorted.chunk_by(|a, b| pair(a) == pair(b)) {
        check_repeated(draft, links)?;
        let there = match draft.stated {
            Stated::Once => links,
            Stated::BothWays | Stated::OneOrBothWays => one_way(draft, links)?,
        };
        bundles.extend(there.chunk_by(|a, b| a.class == b.class).map(|same| Bundle {
            pair: pair(&same[0]),
            class: class(&same[0]),
            width: same.len() as u32,
            place: same[0].place,
        }));
    }
    Ok(bundles)
}

/// Refuses an undirected file that states every link once in each direction: these may be directions of one link, or
/// two links.
fn check_each_way(draft: &Draft, sorted: &[Link]) -> Result<(), Problem> {
    let there_and_back = |links: &[Link]| matches!(links, [a, b] if a.from != b.from);
    let mut pairs = sorted.chunk_by(|a, b| pair(a) == pair(b));
    if draft.stated != Stated::Once || sorted.is_empty() || !pairs.all(there_and_back) {
        return Ok(());
    }
    let [a, b] = [&sorted[0], &sorted[1]];
    let (from, to, pairs) = (draft.name(a.from), draft.name(a.to), sorted.len() / 2);
    let what = format!(
        "{}: an undirected graph states each of its {pairs} links from both ends, such as {from} to {to} and {to} to \
         {from}: are they one link or two?",
        draft.places(a, b)
    );
    let help = "for one link, state it once, or write a directed graph; for two parallel links, let both lead from the \
                same end";
    Err(Problem::new(what, help))
}

/// Refuses two statements of one link in a file that has no parallel links.
fn check_repeated(draft: &Draft, links: &[Link]) -> Result<(), Problem> {
    let Parallel::Refused(help) = draft.parallel else { return Ok(()) };
    let same = |links: &&[Link]| draft.stated == Stated::Once || links[0].from == links[1].from;
    let Some([a, b]) = links.windows(2).find(same) else { return Ok(()) };
    let what =
        format!("{}: the link from {} to {} is stated twice", draft.places(a, b), draft.name(a.from), draft.name(a.to));
    Err(Problem::new(what, help))
}

/// The links of one direction between two routers. They stand for both directions.
fn one_way<'l>(draft: &Draft, links: &'l [Link]) -> Result<&'l [Link], Problem> {
    let (there, back) = links.split_at(links.partition_point(|link| link.from == links[0].from));
    let (first, from, to) = (&links[0], draft.name(links[0].from), draft.name(links[0].to));
    if draft.stated == Stated::OneOrBothWays && back.is_empty() {
        return Ok(there);
    }
    if there.len() != back.len() {
        let what = match (there.len(), back.len()) {
            (1, 0) => format!("a link leads from {from} to {to}, and none back"),
            (there, 0) => format!("{there} links lead from {from} to {to}, and none back"),
            (there, back) => {
                format!("from {from} to {to} the file states {there} of the links, and {back} on the way back")
            }
        };
        let help = "state every link in both directions, or write an undirected graph: links carry both directions";
        return Err(Problem::new(format!("{}: {what}", draft.place(first)), help));
    }
    // The links of both directions are sorted by class.
    if let Some((one, other)) = there.iter().zip(back).find(|(one, other)| one.class != other.class) {
        let [there, back] = [one, other].map(|link| &draft.classes[link.class as usize]);
        let places = draft.places(one, other);
        let what = format!("{places}: the link from {from} to {to} is `{there}`, and `{back}` on the way back");
        return Err(Problem::new(what, "give both directions one class or latency"));
    }
    Ok(there)
}
