//! Combines the entries of a file about the links between the same two routers.
//!
//! An undirected file lists each link once, so two entries are two parallel links. A directed file lists each link once in each direction,
//! so the number of links is the number of entries in one direction.

use super::draft::{Draft, Link, Parallel, Problem, Stated};

/// Parallel links of the same class between two routers.
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    /// The numbers that identify the two routers, the smaller number first.
    pub pair: (u32, u32),
    /// Class of the channels from the first router, as a number in the graph. The next field has the class of the channels from the second
    /// router.
    pub class: u8,
    pub back: u8,
    /// Number of parallel links.
    pub width: u32,
    /// The position of the first of these links in the file, for messages.
    pub place: u32,
}

fn pair(link: &Link) -> (u32, u32) {
    (link.from.min(link.to), link.from.max(link.to))
}

/// Combines the entries to the links of the network, sorted by pair of routers, then by class. `numbers`: the number in the graph of each
/// class of the file. Refuses links from a router to itself, and links of only one direction. Refuses parallel links whose directions
/// cannot be matched, and repeated links in a file without parallel links.
pub fn bundles(draft: &Draft, numbers: &[u8]) -> Result<Vec<Bundle>, Problem> {
    if let Some(link) = draft.links.iter().find(|link| link.from == link.to) {
        let what = format!("{}: router {} is connected to itself", draft.place(link), draft.name(link.from));
        return Err(Problem::new(what, "remove the link"));
    }
    let mut sorted = draft.links.clone();
    let class = |link: &Link| numbers[link.class as usize];
    sorted.sort_by_key(|link| (pair(link), draft.stated != Stated::Once && link.from > link.to, class(link)));
    check_each_way(draft, &sorted)?;
    let mut bundles = Vec::with_capacity(sorted.len());
    for links in sorted.chunk_by(|a, b| pair(a) == pair(b)) {
        check_repeated(draft, links)?;
        let (there, back) = match draft.stated {
            Stated::Once => (links, links),
            Stated::BothWays | Stated::OneOrBothWays => both_ways(draft, links)?,
        };
        let both: Vec<(&Link, &Link)> = there.iter().zip(back).collect();
        bundles.extend(both.chunk_by(|a, b| (a.0.class, a.1.class) == (b.0.class, b.1.class)).map(|same| {
            // if the file lists each link in only one direction, the entry can begin at either router
            let (one, other) = same[0];
            let (up, down) =
                if one.from <= one.to || draft.stated == Stated::Once { (one, other) } else { (other, one) };
            let (class, back) = (class(up), class(down));
            Bundle { pair: pair(one), class, back, width: same.len() as u32, place: one.place }
        }));
    }
    Ok(bundles)
}

/// Refuses an undirected file that lists every link once in each direction. Each pair of entries could be the two directions of one link,
/// or two links.
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
         {from}: is this one link or two?",
        draft.places(a, b)
    );
    let help = "for one link, state the link once, or write a directed graph; for two parallel links, state both from \
                the same end";
    Err(Problem::new(what, help))
}

/// Refuses two entries for the same link in a file that has no parallel links.
fn check_repeated(draft: &Draft, links: &[Link]) -> Result<(), Problem> {
    let Parallel::Refused(help) = draft.parallel else { return Ok(()) };
    let same = |links: &&[Link]| draft.stated == Stated::Once || links[0].from == links[1].from;
    let Some([a, b]) = links.windows(2).find(same) else { return Ok(()) };
    let what =
        format!("{}: the link from {} to {} is stated twice", draft.places(a, b), draft.name(a.from), draft.name(a.to));
    Err(Problem::new(what, help))
}

/// Divides the entries for two routers by direction, into two lists of the same length. Entries at the same index are the two directions of
/// a link.
fn both_ways<'l>(draft: &Draft, links: &'l [Link]) -> Result<(&'l [Link], &'l [Link]), Problem> {
    let (there, back) = links.split_at(links.partition_point(|link| link.from == links[0].from));
    let (first, from, to) = (&links[0], draft.name(links[0].from), draft.name(links[0].to));
    if draft.stated == Stated::OneOrBothWays && back.is_empty() {
        return Ok((there, there));
    }
    if there.len() != back.len() {
        let what = match (there.len(), back.len()) {
            (1, 0) => format!("a link leads from {from} to {to}, but no link leads back"),
            (there, 0) => format!("{there} links lead from {from} to {to}, but no link leads back"),
            (there, back) => format!(
                "from {from} to {to} the file states {there} of the links, but {back} in the opposite direction"
            ),
        };
        let help = "state every link in both directions, or write an undirected graph: its links have both directions";
        return Err(Problem::new(format!("{}: {what}", draft.place(first)), help));
    }
    // The links of both directions are sorted by class. The directions of a link can have different classes only if it is clear which
    // entries belong to the same link.
    let is_clear = |links: &[Link]| links.iter().all(|link| link.class == links[0].class);
    let differ = there.iter().zip(back).find(|(one, other)| one.class != other.class);
    if let Some((one, other)) = differ.filter(|_| !is_clear(there) && !is_clear(back)) {
        let [there, back] = [one, other].map(|link| &draft.classes[link.class as usize]);
        let places = draft.places(one, other);
        let what = format!(
            "{places}: several links lead from {from} to {to}, one of them of class `{there}`, but the links in the opposite \
             direction have other classes, such as `{back}`: Weft cannot pair the two directions"
        );
        return Err(Problem::new(what, "give the links of one direction the same class or latency"));
    }
    Ok((there, back))
}
