//! Functions for dotted paths: set the value at a path, and find the value at a path. The functions also check keys and names of models
//! against the schema.

use crate::diagnostic::{Diagnostic, Span, nearest, suggestion};
use crate::schema::{self, ANY_ELEMENT, Schema, View};
use crate::tree::{Entry, Kind, Node};
use crate::yaml;
use serde_json::Value;

/// A path as the user wrote it, and its place in the source for error messages.
pub(crate) struct Target<'a> {
    pub path: &'a str,
    pub span: &'a Span,
}

impl Target<'_> {
    fn refuse(&self, what: &str, help: &str) -> Diagnostic {
        Diagnostic::at(self.span, self.path, what, help, &[])
    }

    /// Sets `value` at the path below `root`. Creates the mappings of the path that do not exist yet.
    pub fn place(&self, root: &mut Node, value: Node) -> Result<(), Diagnostic> {
        let (mut node, mut schema, mut done) = (root, Schema::root(), String::new());
        for name in self.path.split('.') {
            let below = schema.child(name).ok_or_else(|| self.unknown(name, &schema, &done))?;
            node = match schema.view() {
                View::Items(_) => self.item(node, name, &done)?,
                View::Models(_) => self.model(node, name, &done)?,
                View::Keys { .. } | View::Map(_) | View::Words(_) | View::Plain => self.entry(node, name)?,
            };
            schema = below;
            done = join(&done, name);
        }
        *node = value;
        Ok(())
    }

    /// Removes the value at the path below `root`, so that its default applies. A missing value is not an error.
    pub fn remove(&self, root: &mut Node) -> Result<(), Diagnostic> {
        let (mut schema, mut done) = (Schema::root(), String::new());
        for name in self.path.split('.') {
            schema = schema.child(name).ok_or_else(|| self.unknown(name, &schema, &done))?;
            done = join(&done, name);
        }
        let (above, last) = self.path.rsplit_once('.').unwrap_or(("", self.path));
        let mut node = root;
        for name in above.split('.').filter(|name| !name.is_empty()) {
            let Some(below) = node.child_mut(name) else { return Ok(()) };
            node = below;
        }
        match &mut node.kind {
            Kind::Mapping(entries) => entries.retain(|entry| entry.key != last),
            Kind::Sequence(items) => match last.parse::<usize>() {
                Ok(index) if index < items.len() => drop(items.remove(index)),
                _ => return Err(self.no_item(items.len(), last, above)),
            },
            Kind::Scalar(_) => {}
        }
        Ok(())
    }

    fn unknown(&self, name: &str, schema: &Schema, done: &str) -> Diagnostic {
        let place = if done.is_empty() { "a scenario".to_owned() } else { format!("`{done}`") };
        let (kind, valid): (_, Vec<_>) = match schema.view() {
            View::Models(models) => ("models", models.iter().map(|(name, _)| *name).collect()),
            View::Keys { keys, .. } => ("keys", keys.iter().map(|(name, _)| *name).collect()),
            View::Words(words) => ("words", words),
            View::Map(_) | View::Items(_) | View::Plain => ("keys", Vec::new()),
        };
        let end = if kind == "words" { about(schema) } else { String::new() };
        let help = elsewhere(name, done, &format!("the {kind} of {place}"), &valid) + &end;
        self.refuse(&format!("{place} has no `{name}`"), &help)
    }

    /// An element of a list, found by its index. The index after the last element adds an element.
    fn item<'n>(&self, node: &'n mut Node, index: &str, done: &str) -> Result<&'n mut Node, Diagnostic> {
        if node.is_nothing() {
            node.kind = Kind::Sequence(Vec::new());
        }
        let describe = node.describe();
        let Kind::Sequence(items) = &mut node.kind else {
            let help = format!("write the whole list: --set '{done}=[...]'");
            return Err(self.refuse(&format!("`{done}` is {describe}, but it must be a list"), &help));
        };
        let count = items.len();
        match index.parse::<usize>() {
            Ok(index) if index <= count => {
                if index == count {
                    items.push(Node::empty_mapping(self.span.clone()));
                }
                Ok(&mut items[index])
            }
            _ => Err(self.no_item(count, index, done)),
        }
    }

    fn no_item(&self, count: usize, index: &str, list: &str) -> Diagnostic {
        let help = match count {
            0 => format!("the list is empty; `{list}.0` adds an element"),
            1 => format!("`{list}.0` is its only element, and `{list}.1` adds one"),
            _ => format!("`{list}.0` to `{list}.{}` are its elements, and `{list}.{count}` adds one", count - 1),
        };
        self.refuse(&format!("`{list}` has no element `{index}`"), &help)
    }

    fn model<'n>(&self, node: &'n mut Node, name: &str, done: &str) -> Result<&'n mut Node, Diagnostic> {
        let other = match &node.kind {
            Kind::Scalar(Value::String(bare)) => Some(bare.clone()),
            Kind::Mapping(entries) => entries.first().map(|entry| entry.key.clone()),
            _ => None,
        };
        match other {
            Some(other) if other != name => {
                let what = format!("`{done}` is `{other}` in this scenario, so it has no `{name}`");
                Err(self.refuse(&what, &format!("choose `{done}: {name}` first, or set the whole value of `{done}`")))
            }
            // a model's name alone means `{name: {}}`, so it becomes a mapping to which parameters can be added
            Some(_) if matches!(node.kind, Kind::Scalar(_)) => {
                node.kind = Kind::Mapping(Vec::new());
                self.entry(node, name)
            }
            _ => self.entry(node, name),
        }
    }

    fn entry<'n>(&self, node: &'n mut Node, name: &str) -> Result<&'n mut Node, Diagnostic> {
        if matches!(node.kind, Kind::Scalar(Value::Null)) {
            node.kind = Kind::Mapping(Vec::new());
        }
        let describe = node.describe();
        let Kind::Mapping(entries) = &mut node.kind else {
            return Err(self.refuse(
                &format!("the scenario has {describe} in the place of a mapping with the key `{name}`"),
                "set the whole mapping",
            ));
        };
        let at = entries.iter().position(|entry| entry.key == name).unwrap_or(entries.len());
        if at == entries.len() {
            let value = Node::empty_mapping(self.span.clone());
            entries.push(Entry { key: name.to_owned(), key_span: self.span.clone(), value });
        }
        Ok(&mut entries[at].value)
    }
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The value at a path. If the path does not exist, this is the value at the longest part of the path that exists.
pub(crate) struct Found<'n> {
    pub span: &'n Span,
    pub swept: Option<&'n str>,
    /// True if the whole path exists in the document.
    pub whole: bool,
    pub node: &'n Node,
}

pub(crate) fn find<'n>(root: &'n Node, path: &str) -> Found<'n> {
    let mut found = Found { span: &root.span, swept: None, whole: path.is_empty(), node: root };
    let mut node = root;
    let mut names = path.split('.').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let (value, key_span) = match &node.kind {
            Kind::Mapping(entries) => match entries.iter().find(|entry| entry.key == name) {
                Some(entry) => (&entry.value, &entry.key_span),
                None => return found,
            },
            Kind::Sequence(items) => match name.parse::<usize>().ok().and_then(|index| items.get(index)) {
                Some(item) => (item, &item.span),
                None => return found,
            },
            // a model's name alone means `{name: {}}`, so it has no values below it
            Kind::Scalar(_) => return found,
        };
        // an error about a mapping is shown at the key of the mapping, because the span of a mapping covers only its first entry
        found.span = if matches!(value.kind, Kind::Mapping(_)) { key_span } else { &value.span };
        found.swept = value.swept.as_deref().or(found.swept);
        found.whole = names.peek().is_none();
        (node, found.node) = (value, value);
    }
    found
}

/// Checks keys, model names and words below `node` against the schema, and replaces bare names by mappings.
pub(crate) fn check(node: &mut Node, key_span: &Span, schema: &Schema, path: &str) -> Result<(), Diagnostic> {
    let notes = node.swept.as_deref().map(sweep_note).into_iter().collect::<Vec<_>>();
    match schema.view() {
        // `--set` with `null` removes an optional section with required keys; an empty section lacks these keys, so it is refused
        View::Keys { required, .. } if !required.is_empty() && schema.is_optional() && node.is_null() => Ok(()),
        View::Keys { .. } | View::Map(_) if schema.is_map_or_value() && !matches!(node.kind, Kind::Mapping(_)) => {
            Ok(())
        }
        View::Keys { keys, required } => check_keys((node, key_span), (&keys, &required), path, &notes),
        View::Map(values) => {
            for entry in entries(node, path, "any", &[])? {
                check(&mut entry.value, &entry.key_span, &values, &join(path, &entry.key))?;
            }
            Ok(())
        }
        View::Models(models) => check_model(node, key_span, schema, &models, path),
        View::Words(words) => match &node.kind {
            Kind::Scalar(Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            Kind::Scalar(Value::String(word)) => {
                let help = suggestion(word, "write one of", &words);
                Err(Diagnostic::at(&node.span, path, &format!("unknown word `{word}`"), &help, &notes))
            }
            _ => {
                let what = format!("expected a word, found {}", node.describe());
                let help = instead_of_list(node, schema, path).unwrap_or_else(|| word_help(node, schema, &words, path));
                Err(Diagnostic::at(&node.span, path, &what, &help, &notes))
            }
        },
        View::Items(values) => check_items(node, (schema, &values), path, &notes),
        View::Plain => Ok(()),
    }
}

/// The help line for a value at a key that accepts only words. If the value is a mapping, the user expected a section with keys. The line
/// then describes the key, and names the section that has the first key of the mapping.
fn word_help(node: &Node, schema: &Schema, words: &[&str], path: &str) -> String {
    let listed = format!("write one of: {}", words.join(", "));
    let Kind::Mapping(entries) = &node.kind else { return listed };
    let of_section = |key: &str| {
        let section = schema::section_around(key, path)?;
        Some(format!("`{key}` is a key of `{section}`: did you mean `{section}.{key}`? "))
    };
    let near = entries.first().and_then(|entry| of_section(&entry.key)).unwrap_or_default();
    format!("{near}{listed}{}", about(schema))
}

/// The description of a key in one line, as the end of a help line.
fn about(schema: &Schema) -> String {
    schema.description().map(|about| format!(". {}", about.replace('\n', " "))).unwrap_or_default()
}

/// Checks a mapping with a fixed set of keys: each key is known, each value is valid, and no required key is missing.
fn check_keys(
    (node, key_span): (&mut Node, &Span),
    (keys, required): (&[(&'static str, Schema)], &[&'static str]),
    path: &str,
    notes: &[String],
) -> Result<(), Diagnostic> {
    let names: Vec<_> = keys.iter().map(|(name, _)| *name).collect();
    for entry in entries(node, path, "its keys", &names)? {
        let below = join(path, &entry.key);
        let Some((_, schema)) = keys.iter().find(|(name, _)| *name == entry.key) else {
            let what = format!("unknown key `{}`", entry.key);
            let here = if path.is_empty() { "a scenario".to_owned() } else { format!("`{path}`") };
            let help = elsewhere(&entry.key, path, &format!("the keys of {here}"), &names);
            return Err(Diagnostic::at(&entry.key_span, &below, &what, &help, notes));
        };
        check(&mut entry.value, &entry.key_span, schema, &below)?;
    }
    let missing = required.iter().find(|name| !find(node, name).whole);
    missing.map_or(Ok(()), |name| {
        let about = keys.iter().find(|(key, _)| key == name).and_then(|(_, schema)| schema.description());
        let what = format!("the key `{name}` is missing");
        let help = format!("write `{name}: ...`: {}", about.unwrap_or("the key has no default"));
        Err(Diagnostic::at(key_span, &join(path, name), &what, &help, notes))
    })
}

/// Checks the elements of a list. A missing value counts as an empty list.
fn check_items(
    node: &mut Node,
    (list, element): (&Schema, &Schema),
    path: &str,
    notes: &[String],
) -> Result<(), Diagnostic> {
    if let Kind::Sequence(items) = &mut node.kind {
        for (i, item) in items.iter_mut().enumerate() {
            let span = item.span.clone();
            check(item, &span, element, &join(path, &i.to_string()))?;
        }
        return Ok(());
    }
    match list.list_of(path) {
        Some(_) if node.is_nothing() => {
            node.kind = Kind::Sequence(Vec::new());
            Ok(())
        }
        Some(help) => {
            let what = format!("expected a list, found {}", node.describe());
            Err(Diagnostic::at(&node.span, path, &what, &help, notes))
        }
        None => Ok(()),
    }
}

/// The entries of a node, which must be a mapping. A missing value counts as an empty mapping.
fn entries<'n>(node: &'n mut Node, path: &str, kind: &str, valid: &[&str]) -> Result<&'n mut Vec<Entry>, Diagnostic> {
    let describe = node.describe();
    if matches!(node.kind, Kind::Scalar(Value::Null)) {
        node.kind = Kind::Mapping(Vec::new());
    }
    match &mut node.kind {
        Kind::Mapping(entries) => Ok(entries),
        Kind::Scalar(_) | Kind::Sequence(_) => {
            let keys = if valid.is_empty() { "none".to_owned() } else { valid.join(", ") };
            let what = format!("expected a mapping, found {describe}");
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
            let misplaced = belongs(name, parent).map(|place| format!("{place} ")).unwrap_or_default();
            let help = format!("{misplaced}write `key: value`; {kind}: {keys}");
            Err(Diagnostic::at(&node.span, path, &what, &help, &[]))
        }
    }
}

fn check_model(
    node: &mut Node,
    key_span: &Span,
    schema: &Schema,
    models: &[(&'static str, Schema)],
    path: &str,
) -> Result<(), Diagnostic> {
    let notes = &node.swept.as_deref().map(sweep_note).into_iter().collect::<Vec<_>>();
    let names: Vec<_> = models.iter().map(|(name, _)| *name).collect();
    if let Kind::Scalar(Value::String(bare)) = &node.kind {
        let value = Node::empty_mapping(node.span.clone());
        node.kind = Kind::Mapping(vec![Entry { key: bare.clone(), key_span: node.span.clone(), value }]);
    }
    let Kind::Mapping(entries) = &mut node.kind else {
        let what = format!("expected one name, with or without parameters, found {}", node.describe());
        let help = model_of_list(node, models, path)
            .or_else(|| instead_of_list(node, schema, path))
            .unwrap_or_else(|| format!("write one of: {}", names.join(", ")));
        return Err(Diagnostic::at(&node.span, path, &what, &help, notes));
    };
    let [entry] = entries.as_mut_slice() else {
        let is_model = |entry: &&Entry| names.contains(&entry.key.as_str());
        if let (Some(_), Some(stray)) = (entries.iter().find(is_model), entries.iter().find(|entry| !is_model(entry))) {
            let what = format!("unknown key `{}` next to the model", stray.key);
            let help = no_model(&stray.key, path, &names);
            return Err(Diagnostic::at(&stray.key_span, &join(path, &stray.key), &what, &help, notes));
        }
        let span = entries.get(1).map_or(key_span, |second| &second.key_span);
        let what = format!("{} models are given, but exactly one is needed", entries.len());
        return Err(Diagnostic::at(span, path, &what, &format!("write one of: {}", names.join(", ")), notes));
    };
    let Some((_, schema)) = models.iter().find(|(name, _)| *name == entry.key) else {
        let what = format!("unknown model `{}`", entry.key);
        let help = match schema.model_meant_by(&entry.key) {
            Some(meant) => format!("write `{meant}`; all models: {}", names.join(", ")),
            None => no_model(&entry.key, path, &names),
        };
        return Err(Diagnostic::at(&entry.key_span, path, &what, &help, notes));
    };
    check(&mut entry.value, &entry.key_span, schema, &join(path, &entry.key))
}

/// The help line for a key in the place of a model. The line suggests a key of a section around the model, or the models.
fn no_model(key: &str, path: &str, models: &[&str]) -> String {
    schema::section_around(key, path).map_or_else(
        || elsewhere(key, path, "write one of", models),
        |section| format!("`{key}` is a key of `{section}`: did you mean `{section}.{key}`?"),
    )
}

/// The help line of the error for an unknown key in the section at `path`. The line suggests a key of an enclosing section, or the section
/// that has a key of this name, or the nearest name. The rest of the line lists all keys.
fn elsewhere(name: &str, path: &str, what: &str, valid: &[&str]) -> String {
    let around = || schema::near(name, path).map(|other| format!("did you mean `{other}`?"));
    let section = || misplaced(name, &schema::places_around(name, path));
    let here = nearest(name, valid.iter().copied());
    match here.is_none().then(|| around().or_else(section)).flatten().or_else(|| misplaced(name, &schema::places(name)))
    {
        Some(place) => format!("{place} {what}: {}", valid.join(", ")),
        None => suggestion(name, what, valid),
    }
}

/// The help line with another section that has a key of this name, if the user probably meant that key. `parent`: the section in which the
/// user wrote it. Keys of list elements are left out, because a list has several of them.
fn belongs(name: &str, parent: &str) -> Option<String> {
    let places = schema::places(name);
    let single: Vec<_> =
        places.iter().filter(|place| !place.split('.').any(|part| part == ANY_ELEMENT)).cloned().collect();
    if places.contains(&join(parent, name)) { None } else { misplaced(name, &single) }
}

/// The help line for a key that the user wrote in a wrong section. `places`: the dotted paths that the user can mean.
fn misplaced(name: &str, places: &[String]) -> Option<String> {
    let places = &places[..places.len().min(3)];
    let sections: Option<Vec<_>> = places.iter().map(|place| place.strip_suffix(&format!(".{name}"))).collect();
    let listed = |paths: &[&str]| paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(" or ");
    let belongs = sections.map(|sections| format!("`{name}` belongs under {}: ", listed(&sections)));
    let paths: Vec<&str> = places.iter().map(String::as_str).collect();
    (!paths.is_empty()).then(|| format!("{}did you mean {}?", belongs.unwrap_or_default(), listed(&paths)))
}

/// The help line if the user wrote a list instead of a model that has this list as a parameter: `{list: [0, 5, 9]}`.
fn model_of_list(node: &Node, models: &[(&'static str, Schema)], path: &str) -> Option<String> {
    let Kind::Sequence(items) = &node.kind else { return None };
    let takes = |(name, schema): &&(&'static str, Schema)| {
        schema.takes_items(items.len()) && check(&mut node.clone(), &node.span, schema, &join(path, name)).is_ok()
    };
    let takers: Vec<String> =
        models.iter().filter(takes).map(|(name, _)| format!("`{{{name}: {}}}`", yaml::flow(&node.value()))).collect();
    (!takers.is_empty()).then(|| format!("write {}", takers.join(" or ")))
}

/// The help line if the user wrote a list of values instead of one value. `None` if the key takes no value of this kind.
pub(crate) fn instead_of_list(node: &Node, schema: &Schema, path: &str) -> Option<String> {
    let Kind::Sequence(items) = &node.kind else { return None };
    let alone = |item: &Node| check(&mut item.clone(), &item.span, schema, path).is_ok();
    let (values, each) = (yaml::flow(&node.value()), !items.is_empty() && items.iter().all(alone));
    each.then(|| {
        format!(
            "write one value; to run each of several values: `sweep: {{{path}: {values}}}`, or --set \
             'sweep.{path}={values}'"
        )
    })
}

pub(crate) fn sweep_note(key: &str) -> String {
    format!("the value comes from the sweep over `{key}`")
}
