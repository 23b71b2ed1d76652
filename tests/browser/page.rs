//! The waiting page: what the tests of it share. `page_*` are the tests.

use serde_json::{Value, json};
use shared::redis::Redis;
use shared::signals::{self, Stock};
use tests::browser::{Browser, Look};
use tests::room::{Person, RoomNode};
use tests::{stores, wait};
use uuid::Uuid;

/// A waiting room with one event, `concert`.
pub(crate) struct Concert {
    pub(crate) node: RoomNode,
    redis_url: String,
}

/// Nobody is called: the only session is somebody else's.
pub(crate) fn busy() -> Value {
    json!({ "max_active_sessions": 1, "name": "Aurora – Live at the Harbour" })
}

impl Concert {
    pub(crate) async fn with(settings: Value) -> Self {
        let redis_url = stores::redis_url().await;
        let flags = ["--insecure-cookies", "--join-limit-per-minute", "0"];
        let node = RoomNode::start(&redis_url, &flags).await;
        node.create("concert", &settings).await.expect(201);
        node.knows("concert").await;
        Self { node, redis_url }
    }

    /// With somebody let in and so many waiting.
    pub(crate) async fn with_queue(settings: Value, people: usize) -> Self {
        let concert = Self::with(settings).await;
        concert.node.join("concert").await.admitted().await;
        for _ in 0..people {
            concert.node.join("concert").await;
        }
        concert
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/events/concert", self.node.public.base())
    }

    /// What the operator does: `pause`, `close`.
    pub(crate) async fn control(&self, word: &str) {
        let path = format!("/v1/admin/events/concert/{word}");
        self.node.ops.post(&path).await.expect(200);
    }

    pub(crate) async fn change(&self, settings: Value) {
        self.node.ops.patch("/v1/admin/events/concert", &settings).await.expect(200);
    }

    /// What a checkout tells when nothing is left.
    pub(crate) async fn sells_out(&self) {
        let redis = Redis::connect(&self.redis_url).await.expect("Redis is there");
        let event = "concert".parse().expect("a slug");
        let stock = Stock { left: 0, held: 0, queue_delay_ms: 0 };
        signals::publish(&redis, &event, Uuid::nil(), stock).await.expect("Redis answers");
        redis.close().await;
    }

    /// The page, opened by somebody.
    pub(crate) async fn open(&self, look: Look) -> Browser {
        let browser = Browser::open(look).await;
        browser.goto(&self.url()).await;
        browser
    }

    /// The last number that was given out.
    pub(crate) async fn last_number(&self) -> u64 {
        let room = self.node.ops.get("/v1/admin/events/concert").await.expect(200);
        room.number("last_number")
    }

    /// Somebody who is there and follows his place over HTTP.
    pub(crate) async fn person(&self) -> Person {
        self.node.join("concert").await
    }
}

/// Waits until the page is in a state.
pub(crate) async fn shows(browser: &Browser, state: &str) {
    browser.find(&format!("main[data-state={state}]")).await;
}

/// That the page needs no scrolling sideways on the narrowest screen.
pub(crate) async fn fits(browser: &Browser, look: Look) {
    browser.show(&Look::narrow()).await;
    browser.fits().await;
    browser.show(&look).await;
}

/// Waits until the address is as it should be, and gives it.
pub(crate) async fn goes_to(browser: &Browser, start: &str) -> String {
    wait::until(start, async || {
        let url = browser.url().await;
        url.starts_with(start).then_some(url)
    })
    .await
}
