//! The shop's user tokens, which tell people apart where a room asks for them.

use std::sync::Arc;

use jsonwebtoken::{Validation, decode, decode_header};
use serde::Deserialize;
use shared::admission::{JwksError, JwksSource, LEEWAY_SECONDS};
use shared::ids::Subject;
use shared::problem::{Code, Problem};

use crate::settings::Settings;

/// Longest user token that is looked at, in bytes.
const TOKEN_BYTES_MAX: usize = 8 * 1024;

/// Reads user tokens, if the service was told with which keys.
#[derive(Clone, Default)]
pub struct Identities {
    keys: Option<Arc<JwksSource>>,
    issuer: Option<String>,
    audience: Option<String>,
}

#[derive(Deserialize)]
struct UserClaims {
    sub: Subject,
}

impl Identities {
    /// From the settings. Nothing is fetched yet.
    ///
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(settings: &Settings) -> Result<Self, JwksError> {
        let keys = match (&settings.identity_jwks_url, &settings.identity_jwks_file) {
            (Some(url), _) => Some(JwksSource::url(url.clone())?),
            (None, Some(file)) => Some(JwksSource::file(file.clone())),
            (None, None) => None,
        };
        Ok(Self {
            keys: keys.map(Arc::new),
            issuer: settings.identity_issuer.clone(),
            audience: settings.identity_audience.clone(),
        })
    }

    /// Whether rooms may tell people apart by user tokens.
    pub fn is_configured(&self) -> bool {
        self.keys.is_some()
    }

    /// The keys, to be kept fresh.
    pub fn keys(&self) -> Option<Arc<JwksSource>> {
        self.keys.clone()
    }

    /// The user that a token names, if the shop has signed it and it is not expired.
    ///
    /// # Errors
    /// 401 when there is none or it does not hold; 503 while no key is known.
    pub async fn verify(&self, token: Option<&str>) -> Result<Subject, Problem> {
        let invalid = || {
            let detail = "This room needs user_token: the shop's own token of a signed-in user.";
            Problem::new(Code::InvalidToken, detail)
        };
        let (Some(keys), Some(token)) = (&self.keys, token) else { return Err(invalid()) };
        if token.len() > TOKEN_BYTES_MAX {
            return Err(invalid());
        }
        let header = decode_header(token).map_err(|_| invalid())?;
        let Some(key) = keys.key(&header).await else {
            return Err(if keys.is_loaded() { invalid() } else { Problem::unavailable() });
        };
        // The key says which algorithm it is for; the token has no say in it.
        let mut validation = Validation::new(key.algorithm);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        validation.validate_aud = self.audience.is_some();
        let mut required = vec!["exp", "sub"];
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        if let Some(audience) = &self.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        let claims = decode::<UserClaims>(token, &key.key, &validation).map_err(|_| invalid())?;
        Ok(claims.claims.sub)
    }
}
