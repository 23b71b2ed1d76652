//! The sandbox's command line. It only wires.

use anyhow::Context;
use sandbox::Settings;
use shared::serve::shutdown_signal;
use shared::settings::LogFormat;
use shared::{settings, telemetry};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let settings = settings::parse::<Settings>();
    telemetry::init_logs("info", LogFormat::Json)?;
    let shutdown = shutdown_signal()?;
    let listener = TcpListener::bind(settings.listen).await.with_context(|| {
        format!("STANCHION_SANDBOX_LISTEN ({}) cannot be bound", settings.listen)
    })?;
    sandbox::run(settings, listener, shutdown).await
}
