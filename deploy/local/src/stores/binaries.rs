//! Where the stores' programs are.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// Debian and Ubuntu keep Postgres out of the search path, one directory a version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// A program of the search path, or else of the newest Postgres of the distribution.
pub(crate) fn find(program: &str) -> anyhow::Result<PathBuf> {
    on_path(program)
        .or_else(|| newest(Path::new(DEBIAN), program))
        .with_context(|| format!("`{program}` is neither in PATH nor under {DEBIAN}"))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

fn newest(root: &Path, program: &str) -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir(root)
        .ok()?
        .flatten()
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            let file = entry.path().join("bin").join(program);
            file.is_file().then_some((version, file))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, file)| file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_newest_version_is_by_number_not_by_letter() {
        let scratch = Scratch::new();
        for version in ["9", "15", "17", "common"] {
            let bin = scratch.path().join(version).join("bin");
            std::fs::create_dir_all(&bin).unwrap();
            std::fs::write(bin.join("postgres"), "").unwrap();
        }
        let found = newest(scratch.path(), "postgres").unwrap();
        assert_eq!(found, scratch.path().join("17/bin/postgres"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = find("no-such-program").unwrap_err().to_string();
        assert!(error.contains("no-such-program"), "{error}");
    }
}
