//! One person's way: queue, gate, shop; or a bot's.

mod bot;
mod forged;
mod gate;
mod place;
mod queue;
mod shop;
mod till;

pub(crate) use shop::held;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use tokio::time::{Instant, sleep};

use super::caller::Reply;
use super::cut;
use super::plan::Planned;
use super::record::{Call, End, Life};
use super::stage::Stage;

/// Attempts at something before somebody gives up.
const ATTEMPTS: u32 = 12;
/// The page's own: doubling waits up to half a minute.
const RETRY_MS_MAX: u64 = 30_000;

/// Somebody on his way.
pub(crate) struct Visit {
    stage: Arc<Stage>,
    who: Planned,
    life: Life,
    tabs: Vec<queue::Tab>,
    /// When the next heartbeat is due.
    heartbeat: Option<Instant>,
    failures: u32,
}

/// Goes somebody's whole way, or until the rehearsal ends.
pub(crate) async fn live(stage: Arc<Stage>, who: Planned, due: Instant) -> Life {
    stage.caller.late(due);
    stage.live.arrived.fetch_add(1, Relaxed);
    let life = Life { index: who.index, hidden: who.habits.hidden, ..Life::default() };
    let stop = stage.stop.clone();
    let mut visit = Visit { stage, who, life, tabs: Vec::new(), heartbeat: None, failures: 0 };
    let end = tokio::select! {
        end = visit.go(due) => Some(end),
        () = stop.cancelled() => None,
    };
    visit.life.end = end.unwrap_or_default();
    visit.life
}

impl Visit {
    async fn go(&mut self, due: Instant) -> End {
        if self.who.habits.bot {
            return self.attack(due).await;
        }
        let stage = self.stage.clone();
        stage.live.in_queue.fetch_add(1, Relaxed);
        let through = self.through_the_queue(due).await;
        stage.live.in_queue.fetch_sub(1, Relaxed);
        match through {
            Ok(token) => self.shop(&token).await,
            Err(end) => end,
        }
    }

    async fn through_the_queue(&mut self, due: Instant) -> Result<String, End> {
        self.join(due).await?;
        loop {
            self.wait_for_the_turn().await?;
            if self.who.habits.no_show {
                return Err(End::NoShow);
            }
            if let Some(token) = self.claim().await? {
                return Ok(token);
            }
            // The turn was missed: the way back is to join again.
            self.rejoin().await?;
        }
    }

    /// Waits before the next attempt, as long as was told or longer and longer; gives up after many.
    async fn back_off(&mut self, told: Option<u64>) -> Result<(), End> {
        self.failures += 1;
        if self.failures > ATTEMPTS {
            return Err(End::GaveUp);
        }
        let ceiling = (1_000u64 << self.failures.min(5)).min(RETRY_MS_MAX);
        let wait = ceiling / 2 + self.who.random.between(0, ceiling / 2);
        let told_ms = told.map_or(0, |seconds| seconds * 1_000);
        let wait = if told_ms > 0 { told_ms + self.who.random.between(0, 1_000) } else { wait };
        sleep(Duration::from_millis(wait)).await;
        Ok(())
    }

    async fn send(
        &self,
        call: Call,
        due: Instant,
        again_ms: u64,
        request: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Option<Reply> {
        self.stage.caller.send(self.who.index, call, due, again_ms, request).await
    }

    /// Sends a request and cuts the connection, and is out of reach for a moment. Whether it was cut.
    async fn cut_off(&mut self, request: impl FnOnce(&Client) -> RequestBuilder) -> bool {
        let caller = &self.stage.caller;
        let built = request(caller.client(self.who.index)).build();
        let Ok(built) = built else { return false };
        let half = self.who.random.chance(30.0);
        let was_cut = cut::cut(&built, caller.source(self.who.index), half).await;
        sleep(Duration::from_millis(self.who.random.between(50, 800))).await;
        was_cut
    }
}
