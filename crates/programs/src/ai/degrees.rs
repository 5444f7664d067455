//! Degrees of parallelism: they define how a model is divided among ranks.

use crate::form::Comm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::Refusal;

/// Degrees of parallelism: they define how a model is divided among ranks. A rank has a coordinate for each of tensor,
/// context, data and pipeline parallelism. The number of the rank is tensor + T (context + C (data + D pipeline)). T, C
/// and D are the tensor, context and data degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Degrees {
    /// Number of ranks that share each layer.
    #[serde(default = "one")]
    pub tensor: u32,
    /// Number of ranks that share each sequence.
    #[serde(default = "one")]
    pub context: u32,
    /// Number of copies of the model.
    #[serde(default = "one")]
    pub data: u32,
    /// Number of stages of the pipeline.
    #[serde(default = "one")]
    pub pipeline: u32,
    /// Number of ranks that share the experts of a layer.
    #[serde(default = "one")]
    pub expert: u32,
}

fn one() -> u32 {
    1
}

/// Largest number of ranks that the remedy of a refusal proposes.
const MOST_RANKS: u64 = 1 << 16;

/// The kinds of communicators of a rank. The value is the communicator's number in the operations of the rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Tensor = 1,
    Context = 2,
    /// Ranks that differ only in the data or context coordinate; they sum gradients.
    Data = 3,
    Pipeline = 4,
    Expert = 5,
    /// Ranks that have the same experts.
    ExpertData = 6,
}

impl Group {
    pub const fn number(self) -> u16 {
        self as u16
    }
}

/// The coordinates of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub tensor: u32,
    pub context: u32,
    pub data: u32,
    pub pipeline: u32,
}

/// Refuses a degree of 0, and degrees whose product is not `ranks`. The refusal of a degree of 0 names the key of this
/// degree below `path`. The refusal of a wrong product names the path `of_product`.
pub fn check_product(degrees: &[(&str, u32)], ranks: u32, path: &str, of_product: &str) -> Result<(), Refusal> {
    if let Some((name, _)) = degrees.iter().find(|(_, degree)| *degree == 0) {
        return Err(of_zero(path, name));
    }
    let product = degrees.iter().try_fold(1u64, |all, &(_, degree)| all.checked_mul(degree.into()));
    if product == Some(ranks.into()) {
        return Ok(());
    }
    let factors: Vec<String> = degrees.iter().map(|(name, degree)| format!("{name} {degree}")).collect();
    let shown = product.map_or("more than 2^64".to_owned(), |product| product.to_string());
    let what = format!("{} = {shown} ranks, not {ranks}", factors.join(" x "));
    let other = product.filter(|&product| product <= MOST_RANKS).map(|product| format!(", or `ranks: {product}`"));
    let help = format!("write degrees whose product is {ranks}{}", other.unwrap_or_default());
    Err(Refusal::new(of_product, what, help))
}

fn of_zero(path: &str, name: &str) -> Refusal {
    Refusal::new(format!("{path}.{name}"), "a degree of 0 gives 0 ranks", "write 1 for an unused degree")
}

impl Degrees {
    /// The number of ranks: the product of the tensor, context, data and pipeline degrees.
    pub fn ranks(&self) -> u64 {
        [self.tensor, self.context, self.data, self.pipeline].into_iter().map(u64::from).product()
    }

    /// Number of ranks of a stage of the pipeline.
    fn stage(&self) -> u32 {
        self.tensor * self.context * self.data
    }

    /// Refuses degrees whose product is not `ranks`, and an expert degree that does not divide the number of ranks of a
    /// stage.
    pub fn check(&self, ranks: u32, path: &str) -> Result<(), Refusal> {
        let Self { tensor, context, data, pipeline, expert } = *self;
        let degrees = [("tensor", tensor), ("context", context), ("data", data), ("pipeline", pipeline)];
        check_product(&degrees, ranks, path, path)?;
        if expert == 0 {
            return Err(of_zero(path, "expert"));
        }
        if !self.stage().is_multiple_of(expert) {
            let what = format!("expert {expert} does not divide the {} ranks of a stage", self.stage());
            return Err(Refusal::new(format!("{path}.expert"), what, "write a divisor of tensor x context x data"));
        }
        Ok(())
    }

    pub fn place(&self, rank: u32) -> Place {
        let (tensor, rest) = (rank % self.tensor, rank / self.tensor);
        let (context, rest) = (rest % self.context, rest / self.context);
        Place { tensor, context, data: rest % self.data, pipeline: rest / self.data }
    }

    fn rank(&self, at: Place) -> u32 {
        at.tensor + self.tensor * (at.context + self.context * (at.data + self.data * at.pipeline))
    }

    /// Returns the communicators of all ranks, in the order of [`Group`]. All members of a communicator share one list
    /// of members.
    pub fn comms(&self) -> Vec<Vec<Comm>> {
        let ranks = self.ranks() as u32;
        let mut comms: Vec<Vec<Comm>> = vec![Vec::new(); ranks as usize];
        let mut number = 0;
        let stage = self.stage();
        let stages =
            |members: &dyn Fn(u32) -> Vec<Vec<u32>>| (0..self.pipeline).flat_map(|p| members(p * stage)).collect();
        let data = |base: u32| {
            let of_tensor = |tensor: u32| (0..stage / self.tensor).map(|k| base + tensor + k * self.tensor).collect();
            (0..self.tensor).map(of_tensor).collect::<Vec<Vec<u32>>>()
        };
        let experts = |base: u32| {
            (0..stage / self.expert).map(|k| (0..self.expert).map(|e| base + k * self.expert + e).collect()).collect()
        };
        let same_experts = |base: u32| {
            (0..self.expert).map(|e| (0..stage / self.expert).map(|k| base + k * self.expert + e).collect()).collect()
        };
        let pipeline = (0..stage).map(|k| (0..self.pipeline).map(|p| k + p * stage).collect()).collect();
        let groups: [Vec<Vec<u32>>; 6] = [
            self.along(|at, k| Place { tensor: k, ..at }, self.tensor),
            self.along(|at, k| Place { context: k, ..at }, self.context),
            stages(&data),
            pipeline,
            stages(&experts),
            stages(&same_experts),
        ];
        for group in groups {
            for members in group {
                number += 1;
                let members: Arc<[u32]> = members.into();
                for (me, &rank) in (0..).zip(members.iter()) {
                    comms[rank as usize].push(Comm { number, members: Arc::clone(&members), me });
                }
            }
        }
        comms
    }

    /// Returns groups of ranks that differ only in one coordinate, which has `count` values. `moved` sets this
    /// coordinate.
    fn along(&self, moved: impl Fn(Place, u32) -> Place, count: u32) -> Vec<Vec<u32>> {
        let ranks = self.ranks() as u32;
        let of = |rank: u32| (0..count).map(|k| self.rank(moved(self.place(rank), k))).collect::<Vec<u32>>();
        (0..ranks)
            .map(of)
            .enumerate()
            .filter(|(rank, members)| members[0] == *rank as u32)
            .map(|(_, members)| members)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_order_tensor_context_data_pipeline() {
        let degrees = Degrees { tensor: 2, context: 2, data: 2, pipeline: 2, expert: 4 };
        let comms = degrees.comms();
        let members = |rank: usize, group: Group| comms[rank][group as usize - 1].members.to_vec();
        assert_eq!(members(5, Group::Tensor), [4, 5]);
        assert_eq!(members(5, Group::Context), [5, 7]);
        assert_eq!(members(5, Group::Data), [1, 3, 5, 7]);
        assert_eq!(members(5, Group::Pipeline), [5, 13]);
        assert_eq!(members(5, Group::Expert), [4, 5, 6, 7]);
        assert_eq!(members(5, Group::ExpertData), [1, 5]);
        assert!(comms.iter().enumerate().all(|(rank, comms)| {
            comms.len() == 6 && comms.iter().all(|comm| comm.members[comm.me as usize] == rank as u32)
        }));
    }

    #[test]
    fn degrees_that_do_not_multiply_to_the_ranks_are_refused_with_the_product() {
        let degrees = Degrees { tensor: 8, context: 1, data: 32, pipeline: 4, expert: 1 };
        assert!(degrees.check(1024, "degrees").is_ok());
        let none = Degrees { data: 0, ..degrees }.check(1024, "degrees").unwrap_err();
        assert_eq!((none.path.as_str(), none.help.as_str()), ("degrees.data", "write 1 for an unused degree"));
        let refused = degrees.check(1000, "degrees").unwrap_err();
        assert_eq!(refused.help, "write degrees whose product is 1000, or `ranks: 1024`");
        assert_eq!(refused.what, "tensor 8 x context 1 x data 32 x pipeline 4 = 1024 ranks, not 1000");
        assert!(Degrees { expert: 3, ..degrees }.check(1024, "degrees").is_err());
        assert!(Degrees { tensor: 1 << 31, data: 1 << 31, pipeline: 4, ..degrees }.check(1024, "degrees").is_err());
    }
}
