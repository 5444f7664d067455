//! Groups of ranks. The attribute `pg_name` of a Chakra collective names its group. The members of a group are in ASTRA-sim's file of
//! groups (JSON), or in the node in which PyTorch lists its process groups.

use super::messages::{Inputs, Node};
use crate::form::Comm;
use crate::mpi::Problem;
use crate::readers::trace_files::Files;
use prost::Message;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use weft_units::Refusal;

const ENDING: &str = ".json";
/// Name of the PyTorch node that lists the groups of its rank, as JSON in its inputs.
const INIT: &str = "## process_group:init ##";
const COPY: &str = "put the file of groups of ASTRA-sim (JSON: group names, each with a list of ranks) into the folder of the trace, or \
                    record the process groups of PyTorch";

type Lists = HashMap<String, Arc<[u32]>>;

/// The groups of ranks of a trace.
pub(super) struct Groups {
    ranks: u32,
    /// Members of each group in ASTRA-sim's file of groups, by the name of the group.
    of_file: Lists,
    /// For each group that a collective uses: the number that identifies the group in the program, from 1. The key has name and
    /// members, because two groups can have the same name.
    numbers: BTreeMap<(String, Arc<[u32]>), u32>,
    /// Names of groups that collectives use although no list gives their members.
    unlisted: BTreeSet<String>,
}

/// The place of a collective in the program: the number that its communicator has at the rank, the number of the collective there,
/// and the communicator's size.
pub(super) struct Place {
    pub comm: u16,
    pub instance: u32,
    pub ranks: u32,
}

/// An entry of PyTorch's list of groups. An entry without members means the group of all ranks.
#[derive(Deserialize)]
struct Listed {
    pg_name: String,
    #[serde(default)]
    ranks: Vec<u32>,
    group_size: Option<u32>,
}

impl Groups {
    /// Makes the record of the groups of a trace of `ranks` ranks. Reads ASTRA-sim's file of groups, if `files` has one.
    pub fn of(files: &mut dyn Files, ranks: u32) -> Result<Self, Refusal> {
        let mut found: Option<(String, Lists)> = None;
        for place in 0..files.names().len() {
            let name = files.names()[place].clone();
            if !name.ends_with(ENDING) {
                continue;
            }
            // a JSON file without groups is ignored, because the folder can contain other JSON files
            let Ok(lists) = serde_json::from_slice::<BTreeMap<String, Vec<u32>>>(&files.load(place)?) else { continue };
            if let Some((other, _)) = &found {
                let what = format!("{other} and {name} both list groups of ranks");
                return Err(Refusal::new("the trace", what, "put each trace into a separate folder"));
            }
            let checked =
                lists.into_iter().map(|(group, members)| Ok((group.clone(), checked(&group, members, ranks)?)));
            let lists = checked.collect::<Result<Lists, Problem>>();
            found = Some((name.clone(), lists.map_err(|(what, help)| Refusal::new(name, what, help))?));
        }
        let of_file = found.map(|(_, lists)| lists).unwrap_or_default();
        Ok(Self { ranks, of_file, numbers: BTreeMap::new(), unlisted: BTreeSet::new() })
    }

    /// Refuses groups without known members. A single group is accepted, because it can be the group of all ranks.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.unlisted.is_empty() || (self.unlisted.len() == 1 && self.numbers.is_empty()) {
            return Ok(());
        }
        let named: Vec<&str> = self.unlisted.iter().take(8).map(String::as_str).collect();
        let all = self.unlisted.len() + self.numbers.len();
        let what =
            format!("collectives use {all} groups, but the trace lists no members of the groups {}", named.join(", "));
        Err(Refusal::new("the trace", what, COPY))
    }

    /// Adds communicators for groups that contain this rank, but have no collectives of this rank. Without them, the check of the
    /// program would not find that these collectives are missing at this rank.
    pub fn complete(&self, rank: u32, comms: &mut Vec<Comm>) {
        for ((_, members), &number) in &self.numbers {
            if comms.iter().all(|comm| comm.number != number) {
                comms.extend(comm_of(number, members, rank));
            }
        }
    }
}

/// The groups of a rank, while its file is read.
pub(super) struct OfRank<'a> {
    groups: &'a mut Groups,
    rank: u32,
    /// Members of each group in PyTorch's list for this rank, by the name of the group.
    listed: Lists,
    comms: Vec<Comm>,
    /// The number of each communicator at this rank, by the name of its group.
    places: HashMap<String, u16>,
    /// Number of collectives that each communicator has had until now. The first entry is for the communicator of all
    /// ranks.
    collectives: Vec<u32>,
}

impl<'a> OfRank<'a> {
    pub fn new(groups: &'a mut Groups, rank: u32) -> Self {
        let (listed, comms, places) = (Lists::new(), Vec::new(), HashMap::new());
        Self { groups, rank, listed, comms, places, collectives: vec![0] }
    }

    /// Adds the groups that a node lists, if the node is PyTorch's list of groups. A list in another form is ignored.
    pub fn list(&mut self, node: &Node) -> Result<(), Problem> {
        if node.name != INIT {
            return Ok(());
        }
        for Listed { pg_name, ranks, group_size } in listed(&node.inputs) {
            let all = self.groups.ranks;
            let members = if ranks.is_empty() {
                if let Some(size) = group_size.filter(|&size| size != all) {
                    let what = format!("group {pg_name} has {size} ranks, but there are files of {all} ranks");
                    return Err((what, "copy the files of all ranks into one folder".to_owned()));
                }
                (0..all).collect()
            } else {
                checked(&pg_name, ranks, all)?
            };
            self.listed.insert(pg_name, members);
        }
        Ok(())
    }

    /// Returns the place of the next collective, for the group that `node` names.
    pub fn next(&mut self, node: &Node) -> Result<Place, Problem> {
        let comm = match node.value("pg_name") {
            None => 0,
            Some(name) => self.comm(node, name.text())?,
        };
        let count = &mut self.collectives[usize::from(comm)];
        *count += 1;
        let ranks =
            usize::from(comm).checked_sub(1).map_or(self.groups.ranks, |place| self.comms[place].members.len() as u32);
        Ok(Place { comm, instance: *count - 1, ranks })
    }

    fn comm(&mut self, node: &Node, name: String) -> Result<u16, Problem> {
        if let Some(&known) = self.places.get(&name) {
            return Ok(known);
        }
        let Some(members) = self.listed.get(&name).or_else(|| self.groups.of_file.get(&name)).cloned() else {
            self.groups.unlisted.insert(name);
            return Ok(0);
        };
        let next = self.groups.numbers.len() as u32 + 1;
        let number = *self.groups.numbers.entry((name.clone(), Arc::clone(&members))).or_insert(next);
        let Some(comm) = comm_of(number, &members, self.rank) else {
            let what = format!(
                "node {} ({}) belongs to group {name}, but rank {} is not in this group",
                node.id, node.name, self.rank
            );
            return Err((what, "correct the members of the group, or the names of the files".to_owned()));
        };
        self.comms.push(comm);
        let Ok(place) = u16::try_from(self.comms.len()) else {
            let what = format!("rank {} has collectives of more than {} groups", self.rank, u16::MAX);
            return Err((what, "record a shorter part of the job".to_owned()));
        };
        self.places.insert(name, place);
        self.collectives.push(0);
        Ok(place)
    }

    /// Returns the communicators of the rank.
    pub fn comms(self) -> Vec<Comm> {
        self.comms
    }
}

fn comm_of(number: u32, members: &Arc<[u32]>, rank: u32) -> Option<Comm> {
    let me = members.iter().position(|&member| member == rank)? as u32;
    Some(Comm { number, members: Arc::clone(members), me })
}

/// Returns the entries of PyTorch's list of groups. Programs that write traces store the list as a string, which is an item of
/// another list in Python or JSON notation.
fn listed(inputs: &[u8]) -> Vec<Listed> {
    let text = Inputs::decode(inputs).map(|inputs| inputs.values).unwrap_or_default();
    let Some(list) = text.find("[{").zip(text.rfind("}]")).and_then(|(first, last)| text.get(first..last + 2)) else {
        return Vec::new();
    };
    serde_json::from_str(list).or_else(|_| serde_json::from_str(&list.replace("\\\"", "\""))).unwrap_or_default()
}

/// Checks that all members are ranks of the trace, and that no member occurs twice.
fn checked(group: &str, members: Vec<u32>, ranks: u32) -> Result<Arc<[u32]>, Problem> {
    if let Some(outside) = members.iter().find(|&&member| member >= ranks) {
        let what = format!("group {group} has rank {outside}, but there are files of {ranks} ranks");
        return Err((what, "copy the files of all ranks into one folder".to_owned()));
    }
    let mut once = BTreeSet::new();
    if let Some(twice) = members.iter().find(|&&member| !once.insert(member)) {
        let what = format!("group {group} has rank {twice} twice");
        return Err((what, "list each rank of a group only once".to_owned()));
    }
    Ok(members.into())
}
