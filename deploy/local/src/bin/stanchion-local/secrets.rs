//! Keys and tokens, made once and kept under `.local/secrets`, for this user's eyes only.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tokio::process::Command;

const SECRET_BYTES: usize = 32;

/// All secrets of one installation. Not `Debug`: they belong in no log.
pub(crate) struct Secrets {
    /// Signs admission tokens.
    pub(crate) admission_key: PathBuf,
    /// Published already, to sign after the next rotation.
    pub(crate) admission_next_key: PathBuf,
    pub(crate) ticket_key: String,
    pub(crate) ops_token: String,
    /// Reads on the ops listeners, and changes nothing.
    pub(crate) ops_read_token: String,
    pub(crate) service_token: String,
    pub(crate) reservation_key: String,
    /// What the sandbox provider knows the checkout by.
    pub(crate) sandbox_key: String,
    /// What it signs webhooks with.
    pub(crate) sandbox_webhook_secret: String,
}

impl Secrets {
    /// Reads the secrets, and makes those that are missing. `waiting_room` makes admission keys.
    pub(crate) async fn load(directory: &Path, waiting_room: &Path) -> anyhow::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        Ok(Self {
            admission_key: key_file(directory.join("current.pem"), waiting_room).await?,
            admission_next_key: key_file(directory.join("next.pem"), waiting_room).await?,
            ticket_key: secret(&directory.join("ticket-key"))?,
            ops_token: secret(&directory.join("ops-token"))?,
            ops_read_token: secret(&directory.join("ops-read-token"))?,
            service_token: secret(&directory.join("service-token"))?,
            reservation_key: secret(&directory.join("reservation-key"))?,
            sandbox_key: secret(&directory.join("sandbox-key"))?,
            sandbox_webhook_secret: secret(&directory.join("sandbox-webhook-secret"))?,
        })
    }
}

/// An admission key; written beside its place and renamed, so that a half-written one is never used.
async fn key_file(path: PathBuf, waiting_room: &Path) -> anyhow::Result<PathBuf> {
    if path.exists() {
        return Ok(path);
    }
    let unfinished = path.with_extension("new");
    let _ = fs::remove_file(&unfinished);
    let output = Command::new(waiting_room)
        .args(["keygen", "--output"])
        .arg(&unfinished)
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot run {}", waiting_room.display()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`waiting-room keygen` failed: {}", told.trim());
    fs::set_permissions(&unfinished, Permissions::from_mode(0o600))?;
    fs::rename(&unfinished, &path)?;
    Ok(path)
}

/// 32 random bytes in hex.
fn secret(path: &Path) -> anyhow::Result<String> {
    if let Ok(text) = fs::read_to_string(path)
        && text.trim().len() == 2 * SECRET_BYTES
    {
        return Ok(text.trim().to_owned());
    }
    let mut bytes = [0_u8; SECRET_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    write_private(path, &format!("{hex}\n"))?;
    Ok(hex)
}

/// Writes a file that nobody else may read, all at once (written beside its place and renamed).
pub(crate) fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let unfinished = path.with_extension("new");
    let _ = fs::remove_file(&unfinished);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&unfinished, path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_made_once_and_is_private() {
        let path = std::env::temp_dir().join(format!("stanchion-{}", uuid::Uuid::new_v4()));
        let first = secret(&path).unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(secret(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(&path).unwrap();
    }
}
