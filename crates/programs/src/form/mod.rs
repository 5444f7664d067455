//! The representation of a program: the operations of each rank in a partial order, and the communicators.

mod calls;
mod check;
mod cursor;
mod op;
mod ops;
mod program;
mod short_receives;

pub use calls::{Calls, Request};
pub(crate) use check::Checked;
pub use cursor::{Cursor, InMemory};
pub use op::{Kind, Op, Operation, When};
pub use ops::{Draft, Ops};
pub use program::{Comm, Program, RankProgram};
pub use short_receives::ShortReceives;
