//! What this instance needs to do its work. How much waits to be written is no part of it: taking
//! a busy instance away would make the others busier.

use std::sync::Arc;

use shared::health::{Check, Checks};

use crate::app::App;
use crate::store::{StoreError, migrate};

/// What it cannot do without, and what it can.
pub fn checks(app: &Arc<App>) -> (Checks, Checks) {
    let needed: Checks = {
        let app = app.clone();
        Arc::new(move || {
            let app = app.clone();
            Box::pin(async move {
                vec![("postgres", postgres(&app).await), ("admission_keys", admission_keys(&app))]
            })
        })
    };
    // Without it the sale goes on, slower.
    let useful: Checks = {
        let app = app.clone();
        Arc::new(move || {
            let app = app.clone();
            Box::pin(async move { vec![("redis", redis(&app).await)] })
        })
    };
    (needed, useful)
}

async fn postgres(app: &App) -> Check {
    match migrate::is_current(&app.store).await {
        Ok(true) => Ok(()),
        Ok(false) | Err(StoreError::Unexpected(_)) => {
            Err("the schema is not current: run checkout migrate".to_owned())
        }
        Err(_) => Err("does not answer".to_owned()),
    }
}

fn admission_keys(app: &App) -> Check {
    if app.admission_keys.is_loaded() { Ok(()) } else { Err("not loaded yet".to_owned()) }
}

async fn redis(app: &App) -> Check {
    app.redis.eviction_policy().await.map(drop).map_err(|_| "does not answer".to_owned())
}
