//! Nothing outlives its parent.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use anyhow::ensure;

use super::*;
use crate::scratch::Scratch;
use crate::{logs, wait};

const SOON: Duration = Duration::from_secs(20);

/// Set in the process that [`a_killed_parent_takes_the_server_with_it`] starts and kills.
const ROLE: &str = "STANCHION_LEASH_TEST_DIRECTORY";

fn shell(script: &str) -> Launch {
    Launch::new("test server", "/bin/sh").args(["-c", script])
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_noticed_with_its_status() {
    let leash = Leash::spawn(&shell("exit 3")).unwrap();
    assert_eq!(leash.ended().await.to_string(), "exited with status 3");
    assert!(!leash.is_running());
    leash.stop(SOON).await.unwrap();
    leash.kill().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_ends_with_a_line_in_the_log() {
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    let mut launch = Launch::new("nothing", "/no/such/program");
    launch.log = Some(logs::append(&log).unwrap());
    let leash = Leash::spawn(&launch).unwrap();
    assert_eq!(leash.ended().await.code, Some(127));
    assert!(logs::tail(&log, 1).contains("/no/such/program"));
}

#[tokio::test]
async fn a_stop_is_in_good_order_and_even_reaches_a_paused_server() {
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    let mut launch = shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done");
    launch.log = Some(logs::append(&log).unwrap());
    let leash = Leash::spawn(&launch).unwrap();
    is_up(&log).await;
    leash.pause().unwrap();
    assert_eq!(leash.stop(SOON).await.unwrap().code, Some(0));
    assert_eq!(logs::tail(&log, 1), "bye");
}

#[tokio::test]
async fn a_server_that_does_not_stop_is_killed_and_told() {
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    let mut launch = shell("trap '' TERM; echo up; while :; do sleep 0.05; done");
    launch.log = Some(logs::append(&log).unwrap());
    let leash = Leash::spawn(&launch).unwrap();
    is_up(&log).await;
    let error = leash.stop(Duration::from_millis(100)).await.unwrap_err();
    assert!(error.to_string().contains("did not stop"), "{error}");
    assert_eq!(leash.ended().await.to_string(), "was ended by signal 9");
}

#[tokio::test]
async fn a_kill_takes_the_children_too() {
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    let mut launch = shell("sleep 1000 & echo $!; wait");
    launch.log = Some(logs::append(&log).unwrap());
    let leash = Leash::spawn(&launch).unwrap();
    let child = wait::until(SOON, async || told_pid(&log)).await.unwrap();
    leash.kill().await.unwrap();
    assert!(!processes::is_alive(child));
}

#[tokio::test]
async fn a_dropped_leash_stops_the_server() {
    let leash = Leash::spawn(&shell("sleep 1000")).unwrap();
    let pid = leash.pid;
    drop(leash);
    processes::gone(&[pid], SOON).await.unwrap();
}

#[tokio::test]
async fn a_dropped_leash_stops_a_paused_server_and_its_children() {
    let scratch = Scratch::new();
    let log = scratch.path().join("log");
    // The child ends only by itself, when it sees that its input has.
    let mut launch =
        shell("trap 'exit 0' TERM; mkfifo line; cat line & exec 5>line; echo $!; wait");
    launch.directory = scratch.path().to_owned();
    launch.log = Some(logs::append(&log).unwrap());
    let leash = Leash::spawn(&launch).unwrap();
    let child = wait::until(SOON, async || told_pid(&log)).await.unwrap();
    let server = leash.pid;
    leash.pause().unwrap();
    drop(leash);
    processes::gone(&[server, child], SOON).await.unwrap();
}

#[tokio::test]
async fn a_killed_parent_takes_the_server_with_it() {
    let scratch = Scratch::new();
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "leash::tests::the_parent_that_is_killed"])
        .env(ROLE, scratch.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let server = wait::until(SOON, async || told_pid(&scratch.path().join("pid"))).await.unwrap();
    assert!(processes::is_alive(server));

    parent.kill().unwrap();
    assert_eq!(parent.wait().unwrap().signal(), Some(9));
    processes::gone(&[server], SOON).await.unwrap();
}

/// Not a test: the other process of the test above.
#[test]
#[ignore = "run by a_killed_parent_takes_the_server_with_it"]
fn the_parent_that_is_killed() {
    let Some(directory) = std::env::var_os(ROLE) else {
        return;
    };
    let leash = Leash::spawn(&shell("sleep 1000")).unwrap();
    fs::write(Path::new(&directory).join("pid"), format!("{}\n", leash.pid())).unwrap();
    loop {
        std::thread::park();
    }
}

/// Waits until the server has written that it is up: its traps are set.
async fn is_up(log: &Path) {
    let probe = async || {
        ensure!(logs::tail(log, 1) == "up");
        Ok(())
    };
    wait::until(SOON, probe).await.unwrap();
}

fn told_pid(path: &Path) -> anyhow::Result<Pid> {
    let text = fs::read_to_string(path)?;
    let line = text.lines().next().filter(|_| text.ends_with('\n')).context("no line yet")?;
    Pid::from_raw(line.parse()?).context("pid 0")
}
