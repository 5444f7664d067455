//! Reads files that contain the parameters of a generated program.

use crate::diagnostic::{Diagnostic, Source};
use crate::expand::{explain, typed_as};
use crate::path;
use crate::schema::Schema;
use crate::tree::{self, Kind};
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::generators::{Made, ProgramFile};

/// Generates the program that a file describes. Returns the program, the derivation of its numbers, and the rules that select algorithms
/// for its collectives.
pub fn make_program(file_name: &str, text: &str) -> Result<(Made, Rules), Diagnostic> {
    let source = Arc::new(Source { name: file_name.to_owned(), text: text.to_owned(), is_file: true });
    let mut root = tree::parse(&source, 0..text.len())?;
    let schema = Schema::program_file();
    if let Kind::Mapping(entries) = &root.kind
        && let Some(unknown) = entries.iter().find(|entry| schema.child(&entry.key).is_none())
    {
        let (key, help) = (&unknown.key, "a program file has the keys `program` and `collectives`");
        return Err(Diagnostic::at(&unknown.key_span, key, &format!("unknown key `{key}`"), help, &[]));
    }
    let span = root.span.clone();
    path::check(&mut root, &span, &schema, "")?;
    let file: ProgramFile = typed_as(&root, schema)?;
    file.make().map_err(|refusal| explain(&root, &[], &refusal))
}
