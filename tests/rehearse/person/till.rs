//! From a hold to its end: paid, let go, or run out.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::super::caller::Reply;
use super::super::habits::Payer;
use super::super::record::{Call, End};
use super::super::target::Paying;
use super::Visit;
use super::shop::held;

/// Looks at a payment that is under way, once a second.
const LOOKS: u32 = 90;
/// Payment states that are no end yet.
const UNDER_WAY: [&str; 4] =
    ["payment_processing", "confirming_availability", "withdrawing", "refund_pending"];

impl Visit {
    pub(super) async fn at_the_till(&mut self) -> End {
        if self.who.habits.payer == Payer::TooLate {
            return self.too_late().await;
        }
        sleep(Duration::from_millis(self.who.habits.pay_ms)).await;
        self.session_may_end();
        let paying = self.stage.target.paying.clone();
        match (self.who.habits.payer, paying) {
            (Payer::Cancels, _) => self.let_go(End::Cancelled).await,
            (_, Paying::Not) => self.let_go(End::NoWayToPay).await,
            (_, Paying::Confirmed { service_token }) => self.confirmed(&service_token).await,
            (Payer::DeclinedFirst, Paying::Sandbox { .. }) => {
                self.pay("pm_declined").await;
                sleep(Duration::from_millis(self.who.habits.pay_ms / 2)).await;
                self.pay("pm_good").await
            }
            (_, Paying::Sandbox { .. }) => self.pay("pm_good").await,
        }
    }

    fn url(&self, action: &str) -> String {
        let id = self.life.purchases.first().map_or("", |purchase| &purchase.id);
        format!("{}/v1/reservations/{id}{action}", self.checkout())
    }

    fn reservation_token(&self) -> String {
        self.life.purchases.first().map(|purchase| purchase.token.clone()).unwrap_or_default()
    }

    async fn pay(&mut self, method: &str) -> End {
        let (url, token) = (self.url("/payment"), self.reservation_token());
        let key = self.who.random.uuid().to_string();
        let body = json!({ "provider": "sandbox", "payment_method": method });
        let request = |client: &Client| {
            client.post(&url).bearer_auth(&token).header("idempotency-key", &key).json(&body)
        };
        let mut was_cut = false;
        if self.who.habits.is_cut {
            was_cut = self.cut_off(request).await;
            self.life.sale_twice.cut += u64::from(was_cut);
        }
        if !self.settled(Call::Pay, request, was_cut).await {
            return End::NotPaid;
        }
        for _ in 0..LOOKS {
            let payment = self.life.purchases.first().and_then(|one| one.payment.clone());
            match payment.as_deref() {
                Some("paid" | "recovered") => {
                    self.stage.live.bought.fetch_add(1, Relaxed);
                    return End::Bought;
                }
                Some(state) if UNDER_WAY.contains(&state) => {}
                _ => return End::NotPaid,
            }
            sleep(Duration::from_secs(1)).await;
            self.look().await;
        }
        End::NotPaid
    }

    async fn confirmed(&mut self, service_token: &str) -> End {
        let (url, key) = (self.url("/confirm"), self.who.random.uuid().to_string());
        let request = |client: &Client| {
            client.post(&url).bearer_auth(service_token).header("idempotency-key", &key)
        };
        if self.settled(Call::Pay, request, false).await {
            self.stage.live.bought.fetch_add(1, Relaxed);
            return End::Bought;
        }
        End::NotPaid
    }

    async fn let_go(&mut self, end: End) -> End {
        let (url, token) = (self.url(""), self.reservation_token());
        let request = |client: &Client| client.delete(&url).bearer_auth(&token);
        if self.settled(Call::Cancel, request, false).await { end } else { End::NotPaid }
    }

    /// The hold runs out; paying for it then is refused.
    async fn too_late(&mut self) -> End {
        let hold = Duration::from_secs(self.stage.hold_seconds);
        // The session is there as long as the hold surely is.
        sleep(hold.saturating_sub(Duration::from_secs(1))).await;
        self.session_may_end();
        sleep(Duration::from_secs(3)).await;
        for _ in 0..LOOKS {
            self.look().await;
            if self.life.purchases.iter().all(|purchase| purchase.state != "held") {
                break;
            }
            sleep(Duration::from_secs(1)).await;
        }
        match self.stage.target.paying {
            Paying::Sandbox { .. } => match self.pay("pm_good").await {
                End::NotPaid => End::HoldExpired,
                end => end,
            },
            _ => End::HoldExpired,
        }
    }

    /// Sends it until it is answered. Whether it was taken.
    async fn settled(
        &mut self,
        call: Call,
        request: impl Fn(&Client) -> RequestBuilder + Copy,
        was_cut: bool,
    ) -> bool {
        loop {
            match self.once_or_twice(call, request, was_cut).await {
                Some(reply) if reply.is_success() => {
                    self.failures = 0;
                    self.note(0, &reply);
                    return true;
                }
                Some(reply) if (400..500).contains(&reply.status) && reply.status != 429 => {
                    return false;
                }
                reply => {
                    let told = reply.and_then(|reply| reply.retry_after);
                    if self.back_off(told).await.is_err() {
                        return false;
                    }
                }
            }
        }
    }

    /// Looks at all that was reserved.
    async fn look(&mut self) {
        for index in 0..self.life.purchases.len() {
            let purchase = &self.life.purchases[index];
            let url = format!("{}/v1/reservations/{}", self.checkout(), purchase.id);
            let token = purchase.token.clone();
            let get = |client: &Client| client.get(&url).bearer_auth(token);
            if let Some(reply) = self.send(Call::Read, Instant::now(), 1_000, get).await {
                self.note(index, &reply);
            }
        }
    }

    /// Notes how a reservation stands: never back from an end.
    fn note(&mut self, index: usize, reply: &Reply) {
        if !reply.is_success() {
            return;
        }
        if let (Some(now), Some(before)) = (held(reply), self.life.purchases.get_mut(index)) {
            let went_back = before.state != "held" && now.state != before.state;
            self.life.went_back += u32::from(went_back);
            before.state = now.state;
            before.payment = now.payment.or(before.payment.take());
            before.bought_as = now.bought_as.or(before.bought_as.take());
        }
    }
}
