//! What the person at the terminal is told.
#![allow(clippy::print_stdout, reason = "telling the person at the terminal is what this is for")]

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// One line of progress.
pub(crate) fn step(text: &str) {
    println!("• {text}");
}

/// Text as it is.
pub(crate) fn text(text: &str) {
    println!("{text}");
}

/// What went wrong, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}

/// Shows a file from `offset` on, and returns where it ended.
pub(crate) fn file_from(path: &Path, offset: u64) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let mut out = std::io::stdout().lock();
    out.write_all(&bytes)?;
    out.flush()?;
    file.stream_position()
}
