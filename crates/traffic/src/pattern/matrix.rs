//! Matrix: reads the loads and destinations from a file, e.g. a traffic matrix that was measured on a machine.
//!
//! # Source
//! A traffic matrix in the usual form: the value in row s and column d is the traffic from s to d.
//!
//! # Parameters
//! `file`: a matrix with one row and one column per terminal \[any unit, 0 or more\]. The file is a `.npy` (`numpy.save` of a 2-D array of
//! numbers), a `.csv` or a `.tsv`. In a text file, commas, semicolons or tabs separate the numbers. The reader skips a line of names above
//! the numbers, a column of names before the numbers, and a byte-order mark. Rows and columns must be in the same order.
//!
//! # Guarantees
//! Source s draws destination d with probability (s, d) / sum of row s. The rounding error of a probability is at most 2^-32 divided by the
//! count of positive numbers in the row. The source whose row has the largest sum gets the load of the scenario. The loads of other sources
//! are proportional to the sums of their rows, so a source with a row of zeros is silent. The number on the diagonal is the traffic of a
//! terminal to itself. Memory is proportional to the count of positive numbers in the matrix.
//!
//! # Not modelled
//! Matrices that change with time.
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities. The tests in this file check
//! that rows are sources, and that bad files are refused. The pattern was not compared with another simulator.

mod csv;
mod npy;

use super::{Destinations, PatternModel};
use crate::{Population, alias};
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::{InputFile, Refusal};

/// The fault of a file and the remedy, as texts for a refusal.
type Wrong = (String, String);

/// Reads loads and destinations from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// A `.npy`, `.csv` or `.tsv` file with one row per source and one column per destination.
    pub file: InputFile,
}

impl PatternModel for Matrix {
    type To = Rows;

    fn build(&self, population: &Population, path: &str) -> Result<Rows, Refusal> {
        self.read(population.terminals).map_err(|(what, help)| Refusal::new(format!("{path}.file"), what, help))
    }

    fn examples() -> Vec<Self> {
        vec![Self::of_csv(64)]
    }
}

impl Matrix {
    /// An example file in which every fifth source is silent, and the other sources have different loads.
    pub(super) fn of_csv(terminals: u32) -> Self {
        let value = |s: u32, d: u32| if s.is_multiple_of(5) { 0 } else { (7 * s + 3 * d) % 11 };
        let line = |s| (0..terminals).map(|d| value(s, d).to_string()).collect::<Vec<_>>().join(",");
        let text = (0..terminals).map(line).collect::<Vec<_>>().join("\n");
        Self { file: InputFile::new(&format!("{terminals}.csv"), text.into_bytes()) }
    }

    fn read(&self, terminals: u32) -> Result<Rows, Wrong> {
        let mut rows = Rows { ends: Vec::new(), columns: Vec::new(), relative: Vec::new() };
        let mut outcomes = Vec::new();
        let mut add = |row: &[f64]| rows.add(row, &mut outcomes);
        match self.file.extension().as_str() {
            "npy" => npy::rows(self.file.bytes(), terminals, &mut add)?,
            "csv" | "tsv" => {
                let text = self.file.text().map_err(|what| (what, "save the file as plain text".to_owned()))?;
                csv::rows(text, terminals, &mut add)?;
            }
            _ => {
                let what = format!("{} is not a .npy, .csv or .tsv file", self.file.name());
                return Err((what, "name a file in one of these formats".into()));
            }
        }
        rows.scale()
    }
}

/// Refuses a matrix that does not have one row and one column per terminal.
fn expect_square(rows: usize, columns: usize, terminals: u32) -> Result<(), Wrong> {
    if (rows, columns) == (terminals as usize, terminals as usize) {
        return Ok(());
    }
    let what = format!("the matrix has {rows} rows of {columns} numbers, but there are {terminals} terminals");
    let help = match rows == columns {
        true => format!("write one row and one column per terminal, or within: {{terminals: {rows}, pattern: ...}}"),
        false => "write one row and one column per terminal".into(),
    };
    Err((what, help))
}

/// The rows of a matrix. Each row is an alias table, from which a destination is drawn in constant time.
#[derive(Debug, Clone)]
pub struct Rows {
    /// For each source, the end of its alias table in `columns`.
    ends: Vec<usize>,
    columns: Vec<alias::Column>,
    /// Load of each source: first the sum of its row, later (`scale`) this sum divided by the largest sum.
    relative: Vec<f64>,
}

impl Rows {
    /// Creates the rows from (destination, share of the source's packets) for each source. Shares are above 0, and the shares of a source
    /// sum to at most 1. If the sum is less than 1, the source has only this share of the scenario's load.
    pub fn of_shares(sources: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut rows = Self { ends: Vec::new(), columns: Vec::new(), relative: Vec::new() };
        for shares in sources {
            rows.relative.push(shares.iter().map(|&(_, share)| share).sum::<f64>().min(1.0));
            alias::append(&mut rows.columns, &shares);
            rows.ends.push(rows.columns.len());
        }
        rows
    }

    fn add(&mut self, row: &[f64], outcomes: &mut Vec<(u32, f64)>) -> Result<(), Wrong> {
        let number = self.ends.len();
        if let Some(column) = row.iter().position(|&value| !(value >= 0.0 && value.is_finite())) {
            let what = format!("row {number}, column {column} (from 0) is {}", row[column]);
            return Err((what, "write numbers of 0 or more".into()));
        }
        let sum: f64 = row.iter().sum();
        if sum.is_infinite() {
            return Err((format!("the sum of row {number} (from 0) is too large"), "write smaller numbers".into()));
        }
        outcomes.clear();
        outcomes.extend((0..).zip(row.iter().copied()).filter(|&(_, value)| value > 0.0));
        alias::append(&mut self.columns, outcomes);
        self.ends.push(self.columns.len());
        self.relative.push(sum);
        Ok(())
    }

    fn scale(mut self) -> Result<Self, Wrong> {
        let largest = self.relative.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            let help = "write a number above 0 for at least one terminal";
            return Err(("all numbers are 0, so no terminal sends".into(), help.into()));
        }
        self.relative.iter_mut().for_each(|sum| *sum /= largest);
        self.columns.shrink_to_fit();
        Ok(self)
    }

    /// The alias table of a source, or `None` if the source is silent.
    fn table(&self, source: u32) -> Option<&[alias::Column]> {
        let source = source as usize;
        let start = if source > 0 { self.ends[source - 1] } else { 0 };
        (self.relative[source] > 0.0).then(|| &self.columns[start..self.ends[source]])
    }
}

impl Destinations for Rows {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        self.table(source).map(|table| alias::draw(table, rng))
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        self.table(source).map(alias::distribution).unwrap_or_default()
    }

    fn relative_load(&self, source: u32) -> f64 {
        self.relative[source as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    fn build(name: &str, bytes: &[u8], terminals: u32) -> Result<Rows, Refusal> {
        Matrix { file: InputFile::new(name, bytes) }.build(&Population::of(terminals), "p")
    }

    #[test]
    fn rows_are_sources() {
        let rows = build("a.csv", b"0,1,3\n0,0,0\n2,0,0\n", 3).unwrap();
        // The sums of the rows are 4, 0 and 2.
        assert_eq!([0, 1, 2].map(|s| rows.relative_load(s)), [1.0, 0.0, 0.5]);
        assert_eq!(rows.distribution(0), [(1, 0.25), (2, 0.75)]);
        assert_eq!(rows.distribution(2), [(0, 1.0)]);
        assert!(rows.distribution(1).is_empty() && rows.draw(1, &mut stream(1, 0, 0)).is_none());
        assert_eq!(rows.columns.len(), 3);
    }

    #[test]
    fn a_row_too_small_to_send_is_silent() {
        let rows = build("a.csv", b"0,1e300\n1e-300,0\n", 2).unwrap();
        assert_eq!((rows.relative_load(1), rows.draw(1, &mut stream(1, 0, 0))), (0.0, None));
    }

    #[test]
    fn refuses_what_is_no_matrix() {
        let what = |name: &str, text: &str| build(name, text.as_bytes(), 2).unwrap_err().to_string();
        insta::assert_snapshot!(what("a.txt", "1,2"), @"p.file: a.txt is not a .npy, .csv or .tsv file (name a file in one of these formats)");
        insta::assert_snapshot!(what("a.csv", "0,-1\n0,0"), @"p.file: row 0, column 1 (from 0) is -1 (write numbers of 0 or more)");
        insta::assert_snapshot!(what("a.csv", "0,inf\n0,0"), @"p.file: row 0, column 1 (from 0) is inf (write numbers of 0 or more)");
        insta::assert_snapshot!(what("a.csv", "1e308,1e308\n0,0"), @"p.file: the sum of row 0 (from 0) is too large (write smaller numbers)");
        insta::assert_snapshot!(what("a.csv", "0,0\n0,0"), @"p.file: all numbers are 0, so no terminal sends (write a number above 0 for at least one terminal)");
        insta::assert_snapshot!(what("a.csv", "0,1,1\n1,0,1\n1,1,0\n"), @"p.file: the matrix has 3 rows of 3 numbers, but there are 2 terminals (write one row and one column per terminal, or within: {terminals: 3, pattern: ...})");
        insta::assert_snapshot!(what("a.csv", "0,1,1\n1,0,1\n"), @"p.file: the matrix has 2 rows of 3 numbers, but there are 2 terminals (write one row and one column per terminal)");
        assert!(build("a.csv", b"0,\xFF", 1).unwrap_err().what.contains("not UTF-8"));
    }
}
