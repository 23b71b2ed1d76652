//! Whether this node can do its work: Redis answers, and forgets nobody.

use std::sync::Arc;

use shared::health::{Check, Checks};

use crate::app::App;

/// The checks behind `/readyz`.
pub(crate) fn checks(app: Arc<App>) -> Checks {
    Arc::new(move || {
        let app = app.clone();
        Box::pin(async move { vec![("redis", redis(&app).await)] })
    })
}

async fn redis(app: &App) -> Check {
    match app.store.eviction_policy().await {
        Ok(policy) if policy == "noeviction" => Ok(()),
        Ok(policy) => Err(format!("maxmemory-policy must be noeviction and is {policy}")),
        Err(error) => Err(error.to_string()),
    }
}
