//! The rules of ARCHITECTURE.md that a search can hold. A red line here names the rule and its reason.

use std::path::{Path, PathBuf};

struct Rule {
    /// What must not be written.
    never: &'static str,
    /// Below these directories.
    within: &'static [&'static str],
    /// Except in these files.
    except: &'static [&'static str],
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        never: "fred::",
        within: &["shared", "waiting-room", "checkout", "deploy", "tests/harness"],
        except: &["shared/src/redis.rs"],
        why: "the Redis client is named in one file, so that a change of client is one file",
    },
    Rule {
        never: "env::var",
        within: &["shared", "waiting-room", "checkout"],
        except: &[],
        why: "the environment is read by clap in settings.rs, so that one table documents it all",
    },
    Rule {
        never: "use checkout",
        within: &["waiting-room", "shared"],
        except: &[],
        why: "the services never import one another, and shared knows neither",
    },
    Rule {
        never: "use waiting_room",
        within: &["checkout/src", "shared"],
        except: &[],
        why: "the services never import one another, and shared knows neither",
    },
    Rule {
        never: "async ",
        within: &["waiting-room/src/queue"],
        except: &[],
        why: "the domain is pure: no I/O, no clock, no async, so that it can be property-tested",
    },
    Rule {
        never: "::now()",
        within: &["waiting-room/src/queue", "waiting-room/src/store", "checkout/src/store"],
        except: &[],
        why: "time for the queue and for holds is the store's clock",
    },
    Rule {
        never: ".route(",
        within: &["waiting-room/src", "checkout/src"],
        except: &[],
        why: "a call is added with .call(…), which describes it in /openapi.json as well",
    },
    Rule {
        never: "reqwest",
        within: &["checkout/src/http", "checkout/src/sale", "checkout/src/store"],
        except: &[],
        why: "nobody outside is called in a transaction, under a lease or in a request's future",
    },
    Rule {
        never: "StatusCode::",
        within: &[
            "checkout/src/sale",
            "checkout/src/store",
            "waiting-room/src/queue",
            "waiting-room/src/store",
        ],
        except: &[],
        why: "statuses are HTTP's matter: the domain and the stores say what happened",
    },
];

#[test]
fn the_rules_of_the_architecture_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is below the root");
    let mut broken = Vec::new();
    let mut searched = 0;
    for rule in RULES {
        for directory in rule.within {
            for file in sources(&root.join(directory)) {
                searched += 1;
                let name = file.strip_prefix(root).expect("below the root").display().to_string();
                if rule.except.contains(&name.as_str()) {
                    continue;
                }
                let text = std::fs::read_to_string(&file).expect("a source file is readable");
                for (number, line) in text.lines().enumerate() {
                    if line.contains(rule.never) && !line.trim_start().starts_with("//") {
                        broken.push(format!(
                            "{name}:{}: {:?} does not belong here: {}",
                            number + 1,
                            rule.never,
                            rule.why
                        ));
                    }
                }
            }
        }
    }
    assert!(searched > 100, "only {searched} files were searched: have the directories moved?");
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap_or_else(|_| panic!("{}", directory.display()))
    {
        let path = entry.expect("a directory is readable").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
