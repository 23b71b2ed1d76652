//! From the token to a hold.

use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::super::caller::Reply;
use super::super::record::{Call, End, Purchase};
use super::Visit;

#[derive(Deserialize)]
struct Sectors {
    sectors: Vec<Sector>,
}

#[derive(Deserialize)]
struct Sector {
    sector_id: String,
    available: i64,
}

/// What an order has come to.
pub(super) enum Ordered {
    Held(Purchase),
    Refused(Reply),
    /// After many attempts nobody knows.
    Unknown,
}

impl Visit {
    /// Looks around, holds places, and goes on to pay.
    pub(super) async fn shop(&mut self, token: &str) -> End {
        let end = self.buy(token).await.unwrap_or_else(|end| end);
        self.session_may_end();
        end
    }

    async fn buy(&mut self, token: &str) -> Result<End, End> {
        let quantity = u64::from(self.who.habits.quantity).min(self.stage.promised.max_per_user);
        let mut wanted = quantity;
        loop {
            let sector = self.choose(wanted).await?;
            sleep(Duration::from_millis(self.who.habits.browse_ms)).await;
            let asked_ms = self.stage.caller.now_ms();
            match self.order(token, &sector, wanted).await {
                Ordered::Held(held) => {
                    // A hold that runs out while its person still thinks ends the session.
                    self.session_may_end_at(asked_ms + self.stage.hold_seconds * 1_000);
                    self.life.purchases.push(held);
                    if self.who.habits.greedy {
                        self.ask_for_too_much(token, &sector).await;
                    }
                    return Ok(self.at_the_till().await);
                }
                // What is left is less: one place will do.
                Ordered::Refused(reply) if reply.code() == "sold_out" && wanted > 1 => wanted = 1,
                Ordered::Refused(reply) if reply.code() == "sold_out" => {
                    return Err(End::SoldOut);
                }
                Ordered::Refused(_) => return Err(End::NotPaid),
                Ordered::Unknown => return Err(End::GaveUp),
            }
        }
    }

    /// A sector with enough places, or any.
    async fn choose(&mut self, quantity: u64) -> Result<String, End> {
        let url = format!("{}/v1/events/{}/sectors", self.checkout(), self.stage.promised.event);
        loop {
            let due = Instant::now();
            let answer = self.send(Call::Sectors, due, 0, |client| client.get(&url)).await;
            let list = answer.filter(Reply::is_success).and_then(|reply| reply.json::<Sectors>());
            let Some(Sectors { sectors }) = list else {
                self.back_off(None).await?;
                continue;
            };
            self.failures = 0;
            let enough =
                |one: &&Sector| u64::try_from(one.available).is_ok_and(|left| left >= quantity);
            let with_enough: Vec<&str> =
                sectors.iter().filter(enough).map(|one| one.sector_id.as_str()).collect();
            let all: Vec<&str> = sectors.iter().map(|one| one.sector_id.as_str()).collect();
            let from = if with_enough.is_empty() { all } else { with_enough };
            if from.is_empty() {
                return Err(End::SoldOut);
            }
            return Ok(self.who.random.one_of(&from).to_owned());
        }
    }

    pub(super) fn checkout(&self) -> &str {
        self.stage.checkout(self.who.index)
    }

    /// Holds places under a new key, and under the same key again whenever that is not certain.
    async fn order(&mut self, token: &str, sector: &str, quantity: u64) -> Ordered {
        // Until it is decided: the rehearsal may end first.
        self.life.unknown_orders += 1;
        let ordered = self.decided(token, sector, quantity).await;
        self.life.unknown_orders -= u32::from(!matches!(ordered, Ordered::Unknown));
        ordered
    }

    async fn decided(&mut self, token: &str, sector: &str, quantity: u64) -> Ordered {
        let url = format!("{}/v1/reservations", self.checkout());
        let (key, body) = (
            self.who.random.uuid().to_string(),
            json!({ "sector_id": sector, "quantity": quantity }),
        );
        let request = |client: &Client| {
            client.post(&url).bearer_auth(token).header("idempotency-key", &key).json(&body)
        };
        let mut was_cut = false;
        if self.who.habits.is_cut {
            was_cut = self.cut_off(request).await;
            self.life.sale_twice.cut += u64::from(was_cut);
        }
        for _ in 0..super::ATTEMPTS {
            let reply = self.once_or_twice(Call::Reserve, request, was_cut).await;
            match reply {
                Some(reply) if matches!(reply.status, 200 | 201) => {
                    self.failures = 0;
                    return held(&reply).map_or(Ordered::Unknown, Ordered::Held);
                }
                // In line: the same key tells what has become of it.
                Some(reply) if reply.status == 202 => {
                    sleep(Duration::from_secs(reply.retry_after.unwrap_or(1).max(1))).await;
                }
                Some(reply) if (400..500).contains(&reply.status) && reply.status != 429 => {
                    return Ordered::Refused(reply);
                }
                reply => {
                    let told = reply.and_then(|reply| reply.retry_after);
                    if self.back_off(told).await.is_err() {
                        return Ordered::Unknown;
                    }
                }
            }
        }
        Ordered::Unknown
    }

    /// One request, or two at once with the same key, or one more after a cut: what was decided is the same.
    pub(super) async fn once_or_twice(
        &mut self,
        call: Call,
        request: impl Fn(&Client) -> RequestBuilder + Copy,
        was_cut: bool,
    ) -> Option<Reply> {
        let due = Instant::now();
        let (one, two) = if self.who.habits.double_clicks {
            tokio::join!(self.send(call, due, 0, request), self.send(call, due, 0, request))
        } else {
            let first = self.send(call, due, 0, request).await;
            let again = was_cut && first.as_ref().is_some_and(|reply| reply.status < 300);
            let second =
                if again { self.send(call, Instant::now(), 0, request).await } else { None };
            (first, second)
        };
        if let (Some(one), Some(two)) = (&one, &two)
            && let Some(same) = same(one, two)
        {
            self.life.sale_twice.compared += 1;
            if !same {
                let third = self.send(call, Instant::now(), 0, request).await;
                self.differ(call, one, two, third.as_ref());
            }
        }
        let both = [one, two].into_iter().flatten();
        both.max_by_key(|reply| (reply.is_success() && reply.status != 202, reply.status != 429))
    }

    /// A refusal from memory is on no record, and a success may come beside it: then the key's outcome is that
    /// success, from then on. Anything else is two outcomes.
    fn differ(&mut self, call: Call, one: &Reply, two: &Reply, third: Option<&Reply>) {
        let success = match (one.is_success(), two.is_success()) {
            (true, false) => Some(one),
            (false, true) => Some(two),
            _ => None,
        };
        let is_kept = success.zip(third).is_some_and(|(first, now)| same(first, now) == Some(true));
        if !is_kept {
            self.life.sale_twice.differing += 1;
            let told = |reply: &Reply| format!("{} {}", reply.status, reply.code());
            let third = third.map_or("no answer".to_owned(), told);
            let text = format!("{}: {}, {}, then {third}", call.name(), told(one), told(two));
            self.life.differences.push(text);
        }
    }

    /// More than one person may have: must be refused.
    async fn ask_for_too_much(&mut self, token: &str, sector: &str) {
        let quantity = self.stage.promised.max_per_user;
        match self.order(token, sector, quantity).await {
            Ordered::Held(held) => self.life.purchases.push(held),
            Ordered::Refused(reply) => {
                self.life.limit_refused += u32::from(reply.code() == "purchase_limit");
            }
            Ordered::Unknown => {}
        }
    }
}

/// Whether two decided answers are the same; `None` when one of them is not a decision.
fn same(one: &Reply, two: &Reply) -> Option<bool> {
    let decided = |reply: &Reply| reply.status < 500 && !matches!(reply.status, 202 | 429);
    if !decided(one) || !decided(two) {
        return None;
    }
    let outcome = |reply: &Reply| {
        // Of what was made, its name: a payment is told as it stands, which moves on.
        let body: Value = reply.json().unwrap_or_default();
        (reply.is_success(), reply.code(), body["id"].as_str().map(str::to_owned))
    };
    Some(outcome(one) == outcome(two))
}

/// The reservation in an answer.
pub(crate) fn held(reply: &Reply) -> Option<Purchase> {
    let body: Value = reply.json()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let items = body["items"].as_array()?.iter();
    Some(Purchase {
        id: text(&body["id"])?,
        token: text(&body["reservation_token"])?,
        quantity: items.filter_map(|item| item["quantity"].as_u64()).sum(),
        total: body["total"].as_i64().unwrap_or_default(),
        state: text(&body["state"])?,
        payment: text(&body["payment"]["state"]),
        bought_as: text(&body["payment"]["reservation_id"]),
        found: false,
    })
}
