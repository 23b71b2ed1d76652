//! A service binary as a child process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::leash::{Exit, Launch, Leash, Signal};
use crate::{logs, wait};

/// How much of the log is shown when the service does not get ready.
const LOG_LINES: usize = 30;

/// One attempt to ask for readiness.
const PROBE_WITHIN: Duration = Duration::from_secs(2);

/// A service to start.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    /// What it is called in messages.
    pub name: String,
    /// The binary's path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its settings, added to the environment of this process.
    pub env: Vec<(String, String)>,
    /// Takes its output, appended.
    pub log: PathBuf,
    /// Where it listens, such as `http://127.0.0.1:8080`; ready is when `/readyz` there says 200.
    pub url: String,
    /// How long it may take until it is ready.
    pub ready_within: Duration,
    /// How long it may take to stop after SIGTERM.
    pub stop_within: Duration,
}

impl ServiceOptions {
    /// A service without arguments and settings, with 30 seconds to get ready and 30 to stop.
    pub fn new(
        name: impl Into<String>,
        program: impl Into<PathBuf>,
        url: impl Into<String>,
        log: impl Into<PathBuf>,
    ) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            log: log.into(),
            url: url.into(),
            ready_within: Duration::from_secs(30),
            stop_within: Duration::from_secs(30),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a setting.
    #[must_use]
    pub fn env(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }
}

/// A running service; stopped when it is dropped.
#[derive(Debug)]
pub struct Service {
    options: ServiceOptions,
    leash: Leash,
}

impl Service {
    /// Starts a service and waits until it is ready.
    ///
    /// # Errors
    /// When it ends or is not ready in time: with the end of its log.
    pub async fn start(options: ServiceOptions) -> anyhow::Result<Self> {
        let service = Self::spawn(options)?;
        service.ready().await?;
        Ok(service)
    }

    /// Starts a service without waiting: several get ready at once, see [`Self::ready`].
    ///
    /// # Errors
    /// When its log cannot be opened or no process can be started.
    pub fn spawn(options: ServiceOptions) -> anyhow::Result<Self> {
        let leash = launch(&options)?;
        Ok(Self { options, leash })
    }

    /// Waits until `/readyz` answers 200.
    ///
    /// # Errors
    /// When it ends or is not ready in time: with the end of its log.
    pub async fn ready(&self) -> anyhow::Result<()> {
        let client = reqwest::Client::builder().no_proxy().timeout(PROBE_WITHIN).build()?;
        let url = format!("{}/readyz", self.options.url);
        let error = tokio::select! {
            biased;
            exit = self.leash.ended() => anyhow::anyhow!("it {exit}"),
            ready = wait::until(self.options.ready_within, async || probe(&client, &url).await) => {
                match ready {
                    Ok(()) => return Ok(()),
                    Err(error) => error,
                }
            }
        };
        let ServiceOptions { name, log, .. } = &self.options;
        bail!("{name} is not ready: {error:#}; the end of {}:\n{}", log.display(), self.log_tail())
    }

    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.options.name
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.options.url
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.leash.pid()
    }

    /// The last lines of its log.
    #[must_use]
    pub fn log_tail(&self) -> String {
        logs::tail(&self.options.log, LOG_LINES)
    }

    /// Waits until it has ended.
    pub async fn ended(&self) -> Exit {
        self.leash.ended().await
    }

    /// Stops it by SIGTERM: it finishes what it has begun.
    ///
    /// # Errors
    /// When it had to be killed.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.leash.stop(self.options.stop_within).await.map(drop)
    }

    /// Kills it, as a crash would.
    ///
    /// # Errors
    /// When it does not die.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.leash.kill().await
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        self.leash.signal(signal)
    }

    /// Freezes it: connections stay open and nobody answers.
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.leash.pause()
    }

    /// Lets it go on after [`Self::pause`].
    ///
    /// # Errors
    /// When the signal is refused.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.leash.resume()
    }

    /// Starts it again with the same settings, after a stop, a kill, or as it runs, and waits until
    /// it is ready.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn restart(&mut self) -> anyhow::Result<()> {
        self.stop().await?;
        self.leash = launch(&self.options)?;
        self.ready().await
    }
}

fn launch(options: &ServiceOptions) -> anyhow::Result<Leash> {
    let mut launch = Launch::new(&options.name, &options.program).args(&options.args);
    launch.env = options.env.iter().map(|(key, value)| (key.into(), value.into())).collect();
    launch.log = Some(logs::append(&options.log)?);
    Leash::spawn(&launch)
}

async fn probe(client: &reqwest::Client, url: &str) -> anyhow::Result<()> {
    let answer = client.get(url).send().await.context("no answer")?;
    let status = answer.status();
    ensure!(status == reqwest::StatusCode::OK, "/readyz says {status}: {}", answer.text().await?);
    Ok(())
}
