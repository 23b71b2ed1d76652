//! The waiting room's binary: it only wires.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use anyhow::Context;
use clap::Parser;
use shared::admission::SigningKey;
use shared::serve::{Listeners, shutdown_signal};
use shared::telemetry;
use waiting_room::settings::Keygen;
use waiting_room::{Cli, Command, Settings};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Serve(settings) => serve(*settings).await,
        Command::Keygen(keygen) => write_new_key(&keygen),
    }
}

async fn serve(settings: Settings) -> anyhow::Result<()> {
    telemetry::init_logs(&settings.common.log, settings.common.log_format)?;
    let shutdown = shutdown_signal()?;
    let (listen, ops_listen) = (settings.listen, settings.ops_listen);
    let listeners = Listeners::bind(listen, ops_listen)
        .await
        .with_context(|| format!("STANCHION_LISTEN={listen} STANCHION_OPS_LISTEN={ops_listen}"))?;
    tracing::info!(public = %listen, ops = %ops_listen, "waiting room listening");
    waiting_room::run(settings, listeners, shutdown).await
}

fn write_new_key(keygen: &Keygen) -> anyhow::Result<()> {
    let pem = SigningKey::generate_pem()?;
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&keygen.output)
        .and_then(|mut file| file.write_all(pem.as_bytes()))
        .with_context(|| format!("{} cannot be written", keygen.output.display()))
}
