//! The checkout's own binary as a child process: to be killed, or deceived about the time.

use std::path::PathBuf;

use local::service::{Service, ServiceOptions};

use super::{Buyer, claims, sign};
use crate::client::Client;
use crate::keys::{OPS_TOKEN, RESERVATION_KEY, SERVICE_TOKEN, admission};
use crate::{programs, stores};

/// A checkout in a process of its own.
pub struct CheckoutProcess {
    /// The process.
    pub service: Service,
    /// Its public listener.
    pub public: Client,
    /// Its ops listener, with the token.
    pub ops: Client,
}

impl CheckoutProcess {
    /// Starts one on these stores; `env` is added to its settings.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(database_url: &str, redis_url: &str, env: &[(&str, &str)]) -> Self {
        let (public, ops) = (programs::address(), programs::address());
        let log: PathBuf = stores::scratch().join("checkout.log");
        let url = format!("http://{public}");
        let mut options = ServiceOptions::new("checkout", programs::checkout(), url, log)
            .env("STANCHION_DATABASE_URL", database_url)
            .env("STANCHION_REDIS_URL", redis_url)
            .env("STANCHION_LISTEN", public.to_string())
            .env("STANCHION_OPS_LISTEN", ops.to_string())
            .env("STANCHION_OPS_TOKEN", OPS_TOKEN)
            .env("STANCHION_SERVICE_TOKEN", SERVICE_TOKEN)
            .env("STANCHION_RESERVATION_KEY", RESERVATION_KEY)
            .env("STANCHION_JWKS_FILE", admission().jwks.display().to_string())
            .env("STANCHION_DECISION_WAIT_MS", "9000");
        for (name, value) in env {
            options = options.env(*name, *value);
        }
        let service = Service::start(options).await.expect("the checkout starts");
        let ops = Client::new(ops).with_bearer(OPS_TOKEN);
        Self { service, public: Client::new(public), ops }
    }

    /// Somebody who has been let in, by a waiting room whose clock is so many seconds ahead.
    #[must_use]
    pub fn buyer_at(&self, event: &str, sub: &str, ahead_seconds: i64) -> Buyer {
        let mut claims = claims(event, sub);
        for time in [&mut claims.iat, &mut claims.nbf, &mut claims.exp] {
            *time = time.checked_add_signed(ahead_seconds).expect("after 1970");
        }
        Buyer {
            client: self.public.with_bearer(sign(&claims)),
            service: self.public.with_bearer(SERVICE_TOKEN),
        }
    }
}
