//! Log files of child processes.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Context;

/// No more than this is read from the end of a log.
const TAIL_BYTES_MAX: u64 = 64 * 1024;

/// The last `lines` lines of a log, or a note in their place when it cannot be read.
#[must_use]
pub fn tail(path: &Path, lines: usize) -> String {
    match read_end(path) {
        Ok(text) => {
            let all: Vec<&str> = text.lines().collect();
            all[all.len().saturating_sub(lines)..].join("\n")
        }
        Err(error) => format!("({} cannot be read: {error})", path.display()),
    }
}

fn read_end(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Opens a log to append to, and makes the directory it is in.
pub(crate) fn append(path: &Path) -> anyhow::Result<File> {
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_tail_is_the_last_lines() {
        let scratch = Scratch::new();
        let path = scratch.path().join("log");
        std::fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(tail(&path, 2), "two\nthree");
        assert_eq!(tail(&path, 9), "one\ntwo\nthree");
    }

    #[test]
    fn a_missing_log_says_so() {
        assert!(tail(Path::new("/nowhere/log"), 2).contains("cannot be read"));
    }
}
