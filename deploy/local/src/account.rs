//! The user Postgres runs as when we are root: Postgres refuses to run as root, and a container or
//! a fresh machine often has nobody else.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// Where a directory goes that the other user cannot reach at its own place.
const FALLBACK: &str = "/var/tmp";

/// Another user, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Account {
    /// The user to run as: `None` for ourselves, `postgres` or `nobody` when we are root.
    pub(crate) fn for_postgres() -> anyhow::Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let found = ["postgres", "nobody"].iter().find_map(|name| Self::named(name).ok());
        let account = found.context(
            "Postgres does not run as root, and there is no user `postgres` or `nobody` to run as",
        )?;
        Ok(Some(account))
    }

    fn named(name: &str) -> anyhow::Result<Self> {
        let id = |what: &str| -> anyhow::Result<u32> {
            let output = Command::new("id").args([what, name]).stderr(Stdio::null()).output()?;
            ensure!(output.status.success(), "no user {name}");
            Ok(String::from_utf8_lossy(&output.stdout).trim().parse()?)
        };
        Ok(Self { uid: id("-u")?, gid: id("-g")? })
    }

    /// Whether this user can write in `directory`: each directory above it must let him through.
    fn reaches(self, directory: &Path) -> bool {
        Command::new("/bin/sh")
            .args(["-c", "cd \"$1\" && test -w .", "sh"])
            .arg(directory)
            .current_dir("/")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .uid(self.uid)
            .gid(self.gid)
            .status()
            .is_ok_and(|status| status.success())
    }
}

/// Makes `wanted` a directory of mode 0700 that belongs to `account`, and returns where it really
/// is: there, or, when the user cannot get there (a clone under a closed `/root`), under `/var/tmp`
/// with a symbolic link in its place.
pub(crate) fn private_directory(
    wanted: &Path,
    account: Option<Account>,
) -> anyhow::Result<PathBuf> {
    let wanted = std::path::absolute(wanted)?;
    if let Some(parent) = wanted.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
    }
    // An absent target is made again: /var/tmp may have been cleaned.
    if let Ok(target) = fs::read_link(&wanted) {
        own(&target, account)?;
        return Ok(target.canonicalize()?);
    }
    own(&wanted, account)?;
    match account {
        Some(account) if !account.reaches(&wanted) => move_away(&wanted, account),
        _ => Ok(wanted.canonicalize()?),
    }
}

fn move_away(wanted: &Path, account: Account) -> anyhow::Result<PathBuf> {
    let target = Path::new(FALLBACK).join(format!("stanchion-{:016x}", hash(wanted)));
    own(&target, Some(account))?;
    ensure!(account.reaches(&target), "user {} cannot use {}", account.uid, target.display());
    // Fails, as it should, when there is something in it.
    fs::remove_dir(wanted).with_context(|| {
        format!("user {} cannot reach {}, which is not empty", account.uid, wanted.display())
    })?;
    std::os::unix::fs::symlink(&target, wanted)?;
    Ok(target)
}

/// Creates the directory where there is none, and makes sure that it is ours alone: in `/var/tmp`
/// somebody else may have put one there before.
fn own(directory: &Path, account: Option<Account>) -> anyhow::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("cannot create {}", directory.display()));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(directory)?;
    ensure!(found.is_dir(), "{} is not a directory", directory.display());
    let me = rustix::process::geteuid().as_raw();
    match account {
        Some(account) if found.uid() == me => {
            std::os::unix::fs::chown(directory, Some(account.uid), Some(account.gid))?;
        }
        Some(account) if found.uid() == account.uid => {}
        None if found.uid() == me => {}
        _ => bail!("{} belongs to somebody else (user {})", directory.display(), found.uid()),
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
    Ok(())
}

/// FNV-1a: the same on every machine and in every version, unlike the standard library's hasher.
fn hash(path: &Path) -> u64 {
    path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_directory_the_user_cannot_reach_is_moved_and_linked() {
        let Some(account) = Account::for_postgres().unwrap() else {
            return;
        };
        let scratch = Scratch::new();
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let wanted = scratch.path().join("postgres");

        let first = private_directory(&wanted, Some(account)).unwrap();
        assert!(first.starts_with(FALLBACK), "{}", first.display());
        assert!(account.reaches(&first));
        assert_eq!(fs::read_link(&wanted).unwrap(), first);
        assert_eq!(private_directory(&wanted, Some(account)).unwrap(), first, "found again");

        fs::remove_dir_all(&first).unwrap();
        assert_eq!(private_directory(&wanted, Some(account)).unwrap(), first, "made again");
        fs::remove_dir_all(&first).unwrap();
    }

    #[test]
    fn without_another_user_the_directory_stays_where_it_is() {
        let scratch = Scratch::new();
        let wanted = scratch.path().join("a/b");
        let place = private_directory(&wanted, None).unwrap();
        assert_eq!(place, wanted.canonicalize().unwrap());
        assert_eq!(fs::metadata(&place).unwrap().mode() & 0o777, 0o700);
    }
}
