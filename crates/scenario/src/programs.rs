//! Files with the parameters of a program of messages.

use crate::diagnostic::{Diagnostic, Source};
use crate::expand::{explain, typed};
use crate::tree;
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::generators::{Made, ProgramFile};

/// Makes the program of a file, its arithmetic and the rules of its collectives.
pub fn make_program(file_name: &str, text: &str) -> Result<(Made, Rules), Diagnostic> {
    let source = Arc::new(Source { name: file_name.to_owned(), text: text.to_owned(), is_file: true });
    let root = tree::parse(&source, 0..text.len())?;
    let file: ProgramFile = typed(&root)?;
    file.make().map_err(|refusal| explain(&root, &[], &refusal))
}
