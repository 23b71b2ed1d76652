//! Joining and waiting, as the page does it.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::super::caller::Reply;
use super::super::habits::Leaves;
use super::super::record::{Call, End, Told};
use super::Visit;
use super::place::Place;

/// Browsers let a hidden tab run about one timer a minute.
const HIDDEN_POLL_MS: u64 = 60_000;

/// A tab of the page: the ticket is the place, and remembers what was shown.
pub(super) struct Tab {
    ticket: String,
    ahead: Option<u64>,
}

/// What a poll has come to.
enum Turn {
    Called,
    Missed,
    /// Ask again after so many milliseconds.
    Wait(u64),
}

impl Visit {
    pub(super) fn ticket(&self) -> &str {
        self.tabs.first().map_or("", |tab| &tab.ticket)
    }

    fn queue_url(&self) -> String {
        self.stage.queue_url(self.who.index)
    }

    /// Takes a place.
    pub(super) async fn join(&mut self, mut due: Instant) -> Result<(), End> {
        let (url, join_id) = (self.queue_url(), self.who.random.uuid());
        let body = json!({ "join_id": join_id });
        let mut was_cut = false;
        if self.who.habits.is_cut {
            was_cut = self.cut_off(|client| client.post(&url).json(&body)).await;
            self.life.queue_twice.cut += u64::from(was_cut);
            due = Instant::now();
        }
        loop {
            let answer =
                self.send(Call::Join, due, 0, |client| client.post(&url).json(&body)).await;
            match answer {
                Some(reply) if reply.is_success() => {
                    self.failures = 0;
                    let Some(place) = reply.json::<Place>() else { return Err(End::GaveUp) };
                    self.seated(&reply, &place);
                    if was_cut || self.who.habits.double_clicks {
                        self.joined_twice(join_id, place.number).await;
                    }
                    return Ok(());
                }
                reply => self.refused(reply).await?,
            }
            due = Instant::now();
        }
    }

    /// The same join again has the same number.
    async fn joined_twice(&mut self, join_id: Uuid, number: u64) {
        let (url, body) = (self.queue_url(), json!({ "join_id": join_id }));
        let due = Instant::now();
        let again = self.send(Call::Join, due, 0, |client| client.post(&url).json(&body)).await;
        let Some(again) = again.filter(Reply::is_success) else { return };
        let Some(place) = again.json::<Place>() else { return };
        self.life.queue_twice.compared += 1;
        self.life.queue_twice.differing += u64::from(place.number != number);
    }

    fn seated(&mut self, reply: &Reply, place: &Place) {
        let tabs = if self.who.habits.two_tabs { 2 } else { 1 };
        self.tabs = (0..tabs).map(|_| Tab { ticket: place.ticket.clone(), ahead: None }).collect();
        self.heartbeat = Some(Instant::now() + Duration::from_millis(place.heartbeat_after_ms));
        self.life.number = Some(place.number);
        self.see(0, reply, place);
    }

    /// Says that he is back, with his ticket: the number stays.
    pub(super) async fn rejoin(&mut self) -> Result<(), End> {
        self.life.missed += 1;
        let url = self.queue_url();
        loop {
            let ticket = self.ticket().to_owned();
            let due = Instant::now();
            let join =
                self.send(Call::Join, due, 0, |client| client.post(&url).bearer_auth(ticket));
            match join.await {
                Some(reply) if reply.is_success() => {
                    let Some(place) = reply.json::<Place>() else { return Err(End::GaveUp) };
                    // 201 is another place: that turn was over for good.
                    if reply.status == 201 {
                        self.life.number = Some(place.number);
                    }
                    for tab in &mut self.tabs {
                        *tab = Tab { ticket: place.ticket.clone(), ahead: None };
                    }
                    return Ok(());
                }
                reply => self.refused(reply).await?,
            }
        }
    }

    /// Ends it, or waits before the next attempt.
    pub(super) async fn refused(&mut self, reply: Option<Reply>) -> Result<(), End> {
        let Some(reply) = reply else { return self.back_off(None).await };
        match reply.code().as_str() {
            "sold_out" => Err(End::SoldOut),
            "closed" => Err(End::Closed),
            _ => self.back_off(reply.retry_after).await,
        }
    }

    /// Asks as often as told, and shows that he is there, until he is called.
    pub(super) async fn wait_for_the_turn(&mut self) -> Result<(), End> {
        let joined = Instant::now();
        let leaves = self.who.habits.leaves.map(|(how, after)| (how, joined + ms(after)));
        let mut interval_ms = self.interval_ms(1_000);
        let mut due = joined + ms(self.who.random.between(1, interval_ms));
        let mut tab = 0;
        loop {
            let next = self.heartbeat.map_or(due, |heartbeat| heartbeat.min(due));
            if let Some((how, at)) = leaves
                && at <= next
            {
                sleep_until(at).await;
                return Err(self.leave(how).await);
            }
            sleep_until(next).await;
            self.stage.caller.late(next);
            if next < due {
                self.show_presence(next).await;
                continue;
            }
            match self.poll(tab, due, interval_ms).await? {
                Turn::Called => return Ok(()),
                Turn::Missed => {
                    self.rejoin().await?;
                    interval_ms = 1_000;
                }
                Turn::Wait(again_ms) => interval_ms = again_ms,
            }
            tab = (tab + 1) % self.tabs.len();
            due = Instant::now() + ms(interval_ms);
        }
    }

    fn interval_ms(&self, told_ms: u64) -> u64 {
        let told_ms = if self.who.habits.hidden { told_ms.max(HIDDEN_POLL_MS) } else { told_ms };
        // Two tabs ask by turns, each as often as told.
        told_ms / self.tabs.len().max(1) as u64
    }

    async fn poll(&mut self, tab: usize, due: Instant, again_ms: u64) -> Result<Turn, End> {
        let (url, ticket) = (self.queue_url(), self.tabs[tab].ticket.clone());
        let get =
            self.send(Call::Poll, due, again_ms, |client| client.get(&url).bearer_auth(ticket));
        let answer = get.await;
        let Some(reply) = answer else {
            self.back_off(None).await?;
            return Ok(Turn::Wait(1));
        };
        match reply.status {
            200 => {}
            // Another tab of the same person has asked a moment ago.
            429 => {
                let told_ms = reply.retry_after.unwrap_or(1) * 1_000;
                return Ok(Turn::Wait(told_ms + self.who.random.between(0, 1_000)));
            }
            410 => return Ok(Turn::Missed),
            _ => {
                self.back_off(reply.retry_after).await?;
                return Ok(Turn::Wait(1));
            }
        }
        self.failures = 0;
        let Some(place) = reply.json::<Place>() else { return Err(End::GaveUp) };
        self.see(tab, &reply, &place);
        self.tabs[tab].ticket = place.ticket;
        match place.status.as_str() {
            "ready" | "admitted" => Ok(Turn::Called),
            "missed" => Ok(Turn::Missed),
            "sold_out" => Err(End::SoldOut),
            "closed" => Err(End::Closed),
            _ => Ok(Turn::Wait(self.interval_ms(place.poll_after_ms))),
        }
    }

    /// Holds an answer against the ones before it.
    fn see(&mut self, tab: usize, reply: &Reply, place: &Place) {
        let life = &mut self.life;
        if life.number.is_some_and(|number| number != place.number) {
            life.number_changed += 1;
        }
        match place.status.as_str() {
            "waiting" | "paused" => {
                let before = self.tabs[tab].ahead.replace(place.users_ahead);
                if before.is_some_and(|before| place.users_ahead > before) {
                    life.ahead_rose += 1;
                }
                if place.status == "waiting" {
                    life.last_waiting_ms = Some(reply.sent_ms);
                }
                if let (None, Some(wait)) = (life.told, place.estimated_wait_seconds) {
                    let (min_seconds, max_seconds) = (wait.min, wait.max);
                    life.told = Some(Told { at_ms: reply.at_ms, min_seconds, max_seconds });
                }
            }
            "ready" | "admitted" => {
                life.called_ms.get_or_insert(reply.at_ms);
            }
            _ => {}
        }
    }

    async fn show_presence(&mut self, due: Instant) {
        let (url, ticket) = (format!("{}/heartbeat", self.queue_url()), self.ticket().to_owned());
        let post = |client: &reqwest::Client| client.post(&url).bearer_auth(ticket);
        // The page does not look at the answer either; the next one is due as told at the join.
        drop(self.send(Call::Heartbeat, due, 0, post).await);
        self.heartbeat = Some(due + ms(45_000));
    }

    async fn leave(&mut self, how: Leaves) -> End {
        if how == Leaves::Silently {
            return End::LeftSilently;
        }
        let (url, ticket) = (self.queue_url(), self.ticket().to_owned());
        let delete = |client: &reqwest::Client| client.delete(&url).bearer_auth(ticket);
        drop(self.send(Call::Leave, Instant::now(), 0, delete).await);
        End::Left
    }
}

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
