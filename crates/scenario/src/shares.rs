//! Divides the energy of a run among the programs of a workload; the shares are columns in the table of these programs.
//!
//! A program's share of the static energy is (terminals of the program x its run time) / (all terminals x length of the window). A
//! program's share of each dynamic energy is its share of the flits that caused this energy. Three dynamic energies are divided: of links
//! to terminals, of links between routers, and of routers. The shares of programs are rounded down to whole yoctojoules. The sum of the
//! shares and the rest is exactly the bill of the run.

use crate::bill;
use crate::channels::{Channel, Channels};
use crate::energy::Energy;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use weft_engine::Spec;
use weft_engine::outcome::{Outcome, Usage};
use weft_engine::recording::{Column, Table};
use weft_units::fj_f64;

/// A part of the dynamic energy, and the number of flits among which it is divided.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    yj: u128,
    flits: u64,
}

impl Part {
    fn of<'a>(rows: impl Iterator<Item = &'a Channel>) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            yj: sum.yj + row.energy.dynamic_yj,
            flits: sum.flits + row.count.flits.iter().sum::<u64>(),
        })
    }

    fn share(self, flits: u64) -> u128 {
        share(self.yj, flits.into(), self.flits.into())
    }
}

/// `part` / `whole` of an energy, rounded down; 0 if `whole` is 0.
fn share(yj: u128, part: u128, whole: u128) -> u128 {
    // divides the remainder separately, because the product of an energy and a count might not fit into 128 bits
    yj.checked_div(whole).map_or(0, |each| each * part + yj % whole * part / whole)
}

/// The energies that are divided among programs, and the totals by which they are divided.
struct Pool {
    static_yj: u128,
    /// Number of terminals times the cycles of the window.
    terminal_cycles: u128,
    terminal_links: Part,
    links: Part,
    routers: Part,
}

impl Pool {
    fn of(channels: &Channels, spec: &Spec, outcome: &Outcome) -> Self {
        let total = bill::used(channels, spec, outcome);
        let is_terminal = |row: &&Channel| row.count.class == 0;
        let terminal_links = Part::of(channels.rows.iter().filter(is_terminal));
        let links = Part::of(channels.rows.iter().filter(|row| !is_terminal(row)));
        let leaving = Part::of(channels.rows.iter().filter(|row| row.count.from.is_some()));
        let of_routers = total.dynamic_yj - terminal_links.yj - links.yj;
        Self {
            static_yj: total.standing_yj,
            terminal_cycles: u128::from(spec.graph.terminals()) * u128::from(outcome.window),
            terminal_links,
            links,
            routers: Part { yj: of_routers, flits: leaving.flits },
        }
    }

    fn share(&self, usage: &Usage) -> Energy {
        // a flit crosses a terminal link at each end of its path, and one router more than links between routers
        let dynamic_yj = self.terminal_links.share(2 * usage.flits)
            + self.links.share(usage.link_flits)
            + self.routers.share(usage.flits + usage.link_flits);
        let core_cycles = self.terminal_cycles * u128::from(usage.cores_per_terminal);
        Energy { standing_yj: share(self.static_yj, usage.core_cycles.into(), core_cycles), dynamic_yj }
    }
}

/// If a workload has programs that share the energy, adds the columns of their energies to its tables. Returns the fields of the summary
/// for each job that has such a table.
pub(crate) fn add(
    recorded: &mut [(&'static str, Table)],
    channels: &Channels,
    spec: &Spec,
    outcome: &Outcome,
) -> Vec<Map<String, Value>> {
    let pool = Pool::of(channels, spec, outcome);
    let mut of_table = BTreeMap::<&str, Vec<Energy>>::new();
    let mut keys = Vec::new();
    for job in &outcome.jobs {
        let Some((table, usages)) = &job.usages else {
            keys.push(Map::new());
            continue;
        };
        let energies: Vec<Energy> = usages.iter().map(|usage| pool.share(usage)).collect();
        let yj: u128 = energies.iter().map(Energy::total_yj).sum();
        keys.push(Map::from_iter([("queue_energy_j".to_owned(), json!(fj_f64(yj) * 1e-15))]));
        of_table.entry(table).or_default().extend(energies);
    }
    for (name, energies) in of_table {
        let Some((_, table)) = recorded.iter_mut().find(|(other, _)| *other == name) else { continue };
        let column = |of: fn(&Energy) -> u128| Column::Energies(energies.iter().map(of).collect());
        table.columns.extend([
            ("energy_static_fj".to_owned(), column(|energy| energy.standing_yj)),
            ("energy_dynamic_fj".to_owned(), column(|energy| energy.dynamic_yj)),
            ("energy_fj".to_owned(), column(Energy::total_yj)),
        ]);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_where_products_have_no_room() {
        // divides a megajoule, which is 10^30 yoctojoules, into 3 x 10^13 parts
        let (yj, whole) = (10_u128.pow(30), 3 * 10_u128.pow(13));
        assert_eq!(share(yj, 1, whole), 33_333_333_333_333_333);
        assert_eq!(share(yj, whole, whole), yj);
        assert_eq!(share(yj, whole - 1, whole) + share(yj, 1, whole), yj - 1);
        assert_eq!(share(yj, 5, 0), 0);
    }
}
