//! Asks the checkouts' ops listeners how the sale of every event goes: every two seconds, a few questions at
//! once, each for at most a second. Nothing waits for it, and without it the dashboard says what it cannot know.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use futures::stream::{self, StreamExt};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use shared::ids::EventId;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Heard;
use crate::app::App;
use crate::settings::Settings;

const INTERVAL: Duration = Duration::from_secs(2);
const TIMEOUT: Duration = Duration::from_secs(1);
/// Questions to one checkout at once.
const AT_ONCE: usize = 8;

/// The checkouts that this node asks.
pub struct Checkouts {
    client: Client,
    urls: Vec<Url>,
    token: SecretString,
}

impl Checkouts {
    /// As configured; none when there is nobody to ask.
    ///
    /// # Errors
    /// When no HTTP client can be built.
    pub fn new(settings: &Settings) -> Result<Option<Self>, reqwest::Error> {
        let Some(token) = settings.checkout_ops_token.clone() else { return Ok(None) };
        if settings.checkout_ops_urls.is_empty() {
            return Ok(None);
        }
        let client = Client::builder()
            .timeout(TIMEOUT)
            .redirect(Policy::none())
            // The token goes nowhere but there.
            .no_proxy()
            .build()?;
        Ok(Some(Self { client, urls: settings.checkout_ops_urls.clone(), token }))
    }

    /// Asks until shutdown.
    pub async fn ask_until(self, app: Arc<App>, shutdown: CancellationToken) {
        let mut rounds = interval(INTERVAL);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = rounds.tick() => {}
            }
            let mut events = app.rooms.events();
            events.retain(|event| app.board.with(event, |seen| seen.sale.is_asking()).is_some());
            let ask: Vec<_> = self.urls.iter().map(|url| self.ask_all(url, &events)).collect();
            let Some(answers) = shutdown.run_until_cancelled(join_all(ask)).await else { return };
            for (n, event) in events.iter().enumerate() {
                let heard: Vec<_> = answers.iter().map(|of_one| of_one[n].clone()).collect();
                let now_ms = app.board.now_ms();
                app.board.with(event, |watched| watched.sale.hear(&heard, now_ms));
            }
        }
    }

    /// What one checkout says of each event. One that does not answer the first question is asked no further.
    async fn ask_all(&self, url: &Url, events: &[EventId]) -> Vec<Heard> {
        let Some((first, others)) = events.split_first() else { return Vec::new() };
        let first = self.ask(url, first).await;
        if matches!(first, Heard::Nothing) {
            return vec![Heard::Nothing; events.len()];
        }
        let others: Vec<_> = others.iter().map(|event| self.ask(url, event)).collect();
        let mut heard = vec![first];
        heard.extend(stream::iter(others).buffered(AT_ONCE).collect::<Vec<_>>().await);
        heard
    }

    async fn ask(&self, url: &Url, event: &EventId) -> Heard {
        self.try_ask(url, event).await.unwrap_or_else(|error| {
            tracing::debug!(error = %error.without_url(), "a checkout did not say how the sale goes");
            Heard::Nothing
        })
    }

    async fn try_ask(&self, url: &Url, event: &EventId) -> Result<Heard, reqwest::Error> {
        let mut url = url.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["v1", "admin", "events", &event.to_string(), "metrics"]);
        }
        let answer = self.client.get(url).bearer_auth(self.token.expose_secret()).send().await?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Ok(Heard::NoEvent);
        }
        Ok(Heard::Told(Box::new(answer.error_for_status()?.json().await?)))
    }
}
