//! What `/proc` knows about processes. Where there is no `/proc`, nothing is known: no children are
//! found, and a process counts as gone when it takes no signal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::ensure;
use rustix::process::{Pid, test_kill_process};

use crate::wait;

/// The living processes whose parent is `parent`.
pub(crate) fn children_of(parent: Pid) -> Vec<Pid> {
    all().filter(|pid| parent_of(*pid) == Some(parent.as_raw_nonzero().get())).collect()
}

/// Waits until none of them is alive. A zombie is not: it holds nothing any more.
pub(crate) async fn gone(pids: &[Pid], within: Duration) -> anyhow::Result<()> {
    wait::until(within, async || {
        let left: Vec<_> = pids.iter().filter(|pid| is_alive(**pid)).collect();
        ensure!(left.is_empty(), "still running: {left:?}");
        Ok(())
    })
    .await
}

/// The processes named `name` whose current directory is `directory`: for Postgres, the postmaster
/// and the children of a data directory, whoever started them.
pub(crate) fn named_in(name: &str, directory: &Path) -> Vec<Pid> {
    let Ok(directory) = directory.canonicalize() else {
        return Vec::new();
    };
    all()
        .filter(|pid| fs::read_link(entry(*pid, "cwd")).is_ok_and(|cwd| cwd == directory))
        .filter(|pid| fs::read_to_string(entry(*pid, "comm")).is_ok_and(|comm| comm.trim() == name))
        .filter(|pid| is_alive(*pid))
        .collect()
}

pub(crate) fn is_alive(pid: Pid) -> bool {
    match stat(pid) {
        Some(stat) => !matches!(stat.split_whitespace().next(), Some("Z" | "X")),
        None => !are_known() && test_kill_process(pid).is_ok(),
    }
}

/// Whether there is a `/proc`.
pub(crate) fn are_known() -> bool {
    Path::new("/proc/self").exists()
}

fn all() -> impl Iterator<Item = Pid> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

fn parent_of(pid: Pid) -> Option<i32> {
    stat(pid)?.split_whitespace().nth(1)?.parse().ok()
}

/// `/proc/<pid>/stat` from the third field on: state, parent, … The second is the program's name in
/// brackets, and may itself hold blanks and brackets.
fn stat(pid: Pid) -> Option<String> {
    let stat = fs::read_to_string(entry(pid, "stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

fn entry(pid: Pid, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{name}", pid.as_raw_nonzero()))
}
