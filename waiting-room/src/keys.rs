//! The admission keys, read from their files at the start and again at SIGHUP.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Context;
use shared::admission::{Issuer, JwksSource, SigningKey, Verifier};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::settings::Settings;

/// The keys in use. Replaced as a whole, so that no request sees half of a rotation.
pub struct Keys {
    in_use: RwLock<InUse>,
}

#[derive(Clone)]
struct InUse {
    issuer: Arc<Issuer>,
    /// Takes what the issuer has signed, with any of its keys.
    verifier: Arc<Verifier>,
}

impl Keys {
    /// Reads the keys.
    ///
    /// # Errors
    /// With the variable's name, when a file is not an Ed25519 key.
    pub fn load(settings: &Settings) -> anyhow::Result<Self> {
        Ok(Self { in_use: RwLock::new(InUse::read(settings, None)?) })
    }

    /// The issuer with the keys of now.
    pub fn current(&self) -> Arc<Issuer> {
        self.in_use().issuer
    }

    /// Verifies what these keys have signed, without asking anybody.
    pub fn verifier(&self) -> Arc<Verifier> {
        self.in_use().verifier
    }

    fn in_use(&self) -> InUse {
        self.in_use.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files again. Keys that are no longer in them still verify, and still repeat what they
    /// have signed: nobody is thrown out.
    fn reload(&self, settings: &Settings) -> anyhow::Result<()> {
        let read = InUse::read(settings, Some(&self.current()))?;
        *self.in_use.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }
}

impl InUse {
    fn read(settings: &Settings, before: Option<&Issuer>) -> anyhow::Result<Self> {
        let issuer = issuer(settings, before)?;
        let keys = JwksSource::fixed(&issuer.jwks())?;
        let verifier = Verifier::new(&settings.common.issuer, Arc::new(keys));
        Ok(Self { issuer: Arc::new(issuer), verifier: Arc::new(verifier) })
    }
}

/// Reads the keys again at every SIGHUP, until shutdown.
pub async fn reload_at_hangup(app: Arc<App>, settings: Settings, shutdown: CancellationToken) {
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => {
            tracing::error!(error = %error, "SIGHUP is not listened to: keys are read at the start only");
            return;
        }
    };
    while shutdown.run_until_cancelled(hangups.recv()).await.flatten().is_some() {
        match app.issuer.reload(&settings) {
            Ok(()) => tracing::info!(
                kid = app.issuer.current().current_kid(),
                "admission keys read again"
            ),
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "admission keys kept as they were")
            }
        }
    }
}

fn issuer(settings: &Settings, before: Option<&Issuer>) -> anyhow::Result<Issuer> {
    let optional = |path: &Option<std::path::PathBuf>, variable| {
        path.as_deref().map(|path| signing_key(path, variable)).transpose()
    };
    let current = signing_key(&settings.admission_key_file, "STANCHION_ADMISSION_KEY_FILE")?;
    let next = optional(&settings.admission_next_key_file, "STANCHION_ADMISSION_NEXT_KEY_FILE")?;
    let previous =
        optional(&settings.admission_previous_key_file, "STANCHION_ADMISSION_PREVIOUS_KEY_FILE")?;
    let mut issuer =
        Issuer::new(&settings.common.issuer, current, next.into_iter().chain(previous));
    if let Some(before) = before {
        issuer.keep(before);
    }
    Ok(issuer)
}

fn signing_key(path: &Path, variable: &'static str) -> anyhow::Result<SigningKey> {
    let pem = std::fs::read_to_string(path)
        .with_context(|| format!("{variable}: {} cannot be read", path.display()))?;
    SigningKey::from_pem(&pem).with_context(|| format!("{variable}: {}", path.display()))
}
