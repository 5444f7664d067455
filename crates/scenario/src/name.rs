//! Checks the names in a scenario, which Weft uses in tables, titles and names of folders.

use weft_units::Refusal;

/// Maximum length of a name [characters].
const LONGEST: usize = 100;

/// Refuses a name that is too long or does not fit in one line of text.
pub(crate) fn check_line(path: &str, name: &str) -> Result<(), Refusal> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let refuse = |what: String, help: &str| Err(Refusal::new(path, what, help));
    if name.trim().is_empty() {
        return refuse("the name is empty".into(), "write a name, such as my-study, or leave the name out");
    }
    if let Some(c) = name.chars().find(|&c| breaks(c)) {
        let what = format!("a name is one line of text, but this one contains the character U+{:04X}", u32::from(c));
        return refuse(what, "write only letters, digits, spaces and punctuation");
    }
    match name.chars().count() {
        ..=LONGEST => Ok(()),
        long => refuse(format!("the name has {long} characters; a name has 1 to {LONGEST}"), "write a shorter name"),
    }
}

/// Checks a name with [`check_line`] and refuses paths, because Weft saves the results of a scenario in a folder with this name.
pub(crate) fn check(path: &str, name: &str) -> Result<(), Refusal> {
    check_line(path, name)?;
    if name.contains(['/', '\\']) || name.starts_with('.') {
        let what = format!("\"{name}\" is a path, but a path can't be a name");
        return Err(Refusal::new(
            path,
            what,
            "write a name without / and \\ that does not begin with a dot, such as my-study",
        ));
    }
    Ok(())
}
