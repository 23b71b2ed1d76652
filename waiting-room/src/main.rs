//! The waiting room's binary: it only wires.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, ensure};
use shared::admission::SigningKey;
use shared::serve::{Listeners, shutdown_signal};
use shared::{settings, telemetry};
use waiting_room::queue::{Draw, Seed};
use waiting_room::settings::{Keygen, VerifyDraw};
use waiting_room::{Cli, Command, Settings};

/// A poll allocates some forty small things; the system's allocator took a fifth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match settings::parse::<Cli>().command {
        Command::Serve(settings) => serve(*settings).await,
        Command::Keygen(keygen) => write_new_key(&keygen),
        Command::VerifyDraw(published) => verify_draw(&published),
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

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
fn verify_draw(published: &VerifyDraw) -> anyhow::Result<()> {
    let seed = Seed::from_hex(&published.seed).context("--seed must be 64 hex digits")?;
    ensure!(
        seed.commitment().eq_ignore_ascii_case(&published.commitment),
        "the seed is not the one that was committed to: its SHA-256 is {}",
        seed.commitment()
    );
    ensure!(published.number >= 1, "--number must be a queue number: 1 or more");
    let rank = Draw::new(&seed, &published.beacon, published.n).rank(published.number);
    let how = if published.number <= published.n { "drawn" } else { "after the drawn, by arrival" };
    println!("the seed is the one that was committed to");
    println!("number {} has rank {rank} ({how})", published.number);
    Ok(())
}
