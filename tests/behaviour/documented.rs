//! What operators read about settings and metrics is what there is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::CommandFactory;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is below the root");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Names with this prefix that stand in the text between two of these marks.
fn named(text: &str, mark: char, prefix: &str) -> BTreeSet<String> {
    let is_name = |text: &&str| {
        text.starts_with(prefix)
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && text.len() > prefix.len()
    };
    text.lines()
        .flat_map(|line| line.split(mark).filter(is_name).collect::<Vec<_>>())
        .map(str::to_owned)
        .collect()
}

/// What stands in backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

type Variables = BTreeMap<(&'static str, String), Option<String>>;

const SERVICES: [&str; 2] = ["waiting-room", "checkout"];

/// Variables of the README's table, with their defaults, by service.
fn documented() -> Variables {
    let readme = read("README.md");
    let mut variables = Variables::new();
    for row in readme.lines().filter(|line| line.starts_with("| `STANCHION_")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (names, defaults) = (quoted(cells[1]), quoted(cells[3]));
        for (n, name) in names.iter().enumerate() {
            for (m, service) in SERVICES.into_iter().enumerate() {
                if cells[2] == "both" || cells[2] == service {
                    // One variable with a default for each service, or one default for each variable.
                    let place = if names.len() == 1 && defaults.len() > 1 { m } else { n };
                    variables.insert((service, name.clone()), defaults.get(place).cloned());
                }
            }
        }
    }
    variables
}

/// The same, as the programs take them.
fn taken() -> Variables {
    let room = waiting_room::Cli::command();
    let room = room.find_subcommand("serve").expect("it serves").clone();
    let mut variables = Variables::new();
    for (service, command) in SERVICES.into_iter().zip([room, checkout::Settings::command()]) {
        for argument in command.get_arguments() {
            let Some(variable) = argument.get_env().and_then(|name| name.to_str()) else {
                continue;
            };
            let default = argument.get_default_values().first();
            let default = match argument.get_action().takes_values() {
                true => default.map(|value| value.to_string_lossy().into_owned()),
                false => Some("false".to_owned()),
            };
            variables
                .insert((service, variable.to_owned()), default.filter(|text| !text.is_empty()));
        }
    }
    variables
}

#[test]
fn the_readmes_variables_and_defaults_are_those_of_the_programs() {
    let (documented, taken) = (documented(), taken());
    assert!(taken.len() > 40, "only {} variables: has clap changed?", taken.len());
    for (variable, default) in &taken {
        let said = documented.get(variable);
        assert!(said.is_some(), "{variable:?} is not in the README");
        assert_eq!(said, Some(default), "the default of {variable:?}: README and program");
    }
    for variable in documented.keys() {
        assert!(taken.contains_key(variable), "{variable:?} is in the README and nowhere else");
    }
}

fn sources(directory: &Path, text: &mut String) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).expect("a source file is readable"));
        }
    }
}

#[test]
fn the_metrics_are_described_and_what_is_described_is_measured() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is below the root");
    for (service, prefix) in [("waiting-room", "waiting_room_"), ("checkout", "checkout_")] {
        let directory = format!("{service}/src");
        let mut code = String::new();
        sources(&root.join(&directory), &mut code);
        // Names in code stand in quotes, names in the description in backticks.
        let measured = named(&code, '"', prefix);
        let described = named(&read(&format!("{directory}/lib.rs")), '`', prefix);
        assert!(measured.len() > 10, "{service}: {measured:?}");
        assert_eq!(described, measured, "{directory}/lib.rs and the metrics of {service}");
    }
}
