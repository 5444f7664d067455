//! Checks that every example of every registered generator, algorithm and table obeys the laws
//! (`src/laws`).

use weft_programs::collectives::{AlgorithmConfig, TableConfig};
use weft_programs::generators::GeneratorConfig;
use weft_programs::laws::{check_algorithm, check_generator, check_table};

#[test]
fn every_algorithm_brings_the_right_data_to_every_rank() {
    let examples = AlgorithmConfig::examples();
    assert!(AlgorithmConfig::NAMES.iter().all(|name| examples.iter().any(|example| example.name() == *name)));
    examples.iter().for_each(check_algorithm);
}

#[test]
fn every_choice_of_a_table_can_do_its_call() {
    let examples = TableConfig::examples();
    assert!(TableConfig::NAMES.iter().all(|name| examples.iter().any(|example| example.name() == *name)));
    examples.iter().for_each(check_table);
}

#[test]
fn every_generator_keeps_its_laws() {
    let examples = GeneratorConfig::examples();
    assert!(GeneratorConfig::NAMES.iter().all(|name| examples.iter().any(|example| example.name() == *name)));
    for example in examples {
        let name = example.name();
        check_generator(&example, &|parameters| {
            serde_json::from_value(serde_json::json!({ name: parameters })).map_err(|error| error.to_string())
        });
    }
}
