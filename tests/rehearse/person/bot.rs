//! Somebody who does not wait.

use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::super::record::{Call, End};
use super::Visit;
use super::forged::{ALL, Forgery, token};

impl Visit {
    /// Tries every kind of forged token at the checkout, and a forged ticket at the room.
    pub(super) async fn attack(&mut self, due: Instant) -> End {
        if self.join(due).await.is_err() {
            return End::Bot;
        }
        let sector = self.stage.any_sector.clone();
        for forgery in ALL {
            let pause = self.who.random.between(500, 3_000);
            sleep(Duration::from_millis(pause)).await;
            let ticket = self.ticket().to_owned();
            let stage = self.stage.clone();
            let forged = token(forgery, &stage, &ticket, &mut self.who.random);
            if forged.is_none() && forgery != Forgery::None {
                continue;
            }
            let url = format!("{}/v1/reservations", self.checkout());
            let key = self.who.random.uuid().to_string();
            let body = json!({ "sector_id": sector, "quantity": 1 });
            let what = format!("{forgery:?} at {url}");
            self.attempt(&what, |client| {
                let request = client.post(&url).header("idempotency-key", &key).json(&body);
                match &forged {
                    Some(token) => request.bearer_auth(token),
                    None => request,
                }
            })
            .await;
        }
        self.forged_ticket().await;
        End::Bot
    }

    /// The last sign of a ticket's signature, or more of it, is another.
    async fn forged_ticket(&mut self) {
        let ticket = self.ticket().to_owned();
        let Some((claims, _)) = ticket.rsplit_once('.') else { return };
        let forged = format!("{claims}.{}", "A".repeat(43));
        let url = format!(
            "{}/v1/events/{}/admission",
            self.stage.room(self.who.index),
            self.stage.promised.event
        );
        let what = format!("forged ticket at {url}");
        self.attempt(&what, |client| client.post(&url).bearer_auth(&forged)).await;
    }

    async fn attempt(&mut self, what: &str, request: impl FnOnce(&Client) -> RequestBuilder) {
        let reply = self.send(Call::Forged, Instant::now(), 0, request).await;
        let Some(reply) = reply else { return };
        self.life.forged_sent += 1;
        if reply.status < 400 {
            self.life.forged_taken.push(format!("{what}: {}", reply.status));
        }
    }
}
