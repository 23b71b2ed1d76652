//! What the checkout tells the waiting room: who is done, what is left, how busy it is.

mod endings;
mod revoked;
mod stock;

use serde_json::{Value, json};
use tests::client::{Answer, Client};
use tests::room::{Person, RoomNode};
use tests::sale::{Buyer, CheckoutNode};
use tests::{stores, wait};

/// A waiting room and two instances of a checkout on one Redis, and a sector on sale.
struct Sale {
    room: RoomNode,
    one: CheckoutNode,
    two: CheckoutNode,
    sector: String,
}

impl Sale {
    async fn start(redis: &str, room: &Value, places: u32) -> Self {
        let database = stores::database_url().await;
        let sweep = ["--sweep-interval-ms", "10"];
        let (node, one, two) = tokio::join!(
            RoomNode::start(redis, &[]),
            CheckoutNode::start(&database, redis, &sweep),
            CheckoutNode::start(&database, redis, &sweep),
        );
        let settings = json!({"max_per_user": 1_000});
        let sector = one.on_sale_with("sale", &settings, &[places]).await.remove(0);
        node.create("sale", room).await.expect(201);
        Self { room: node, one, two, sector }
    }

    /// With this cap on sessions of ten minutes, in which no test waits for one to end by itself.
    async fn with_cap(cap: u32, places: u32) -> Self {
        let room = json!({"max_active_sessions": cap, "session_duration_seconds": 600});
        Self::start(&stores::redis_url().await, &room, places).await
    }

    async fn people(&self, people: usize) -> Vec<Person> {
        let mut queue = Vec::new();
        for _ in 0..people {
            queue.push(self.room.join("sale").await);
        }
        queue
    }

    /// Somebody goes through the gate and to the checkout.
    async fn buyer(&self, person: &Person) -> Buyer {
        self.one.with_token(admitted(person).await)
    }

    /// Somebody goes through the gate and holds a place.
    async fn holder(&self, person: &Person) -> (Buyer, String) {
        let buyer = self.buyer(person).await;
        let id = buyer.hold(&self.sector).await;
        (buyer, id)
    }

    async fn status(&self) -> Answer {
        status(&self.room.public).await
    }

    async fn reason_becomes(&self, reason: &str) {
        wait::until("the reason to change", async || {
            (self.status().await.str("reason") == reason).then_some(())
        })
        .await;
    }
}

async fn status(room: &Client) -> Answer {
    room.get("/v1/events/sale/status").await.expect(200)
}

/// Waits to be let in: a minute at most, of a session's ten.
async fn admitted(person: &Person) -> String {
    wait::until("somebody to be let in", async || {
        let claim = person.claim().await;
        matches!(claim.status, 200 | 201).then(|| claim.str("admission_token"))
    })
    .await
}

async fn is_kept_out(person: &Person) {
    person.claim().await.expect_problem(409, "not_ready");
}

/// Waits until the node has looked at its rooms a few times more.
async fn looks(node: &RoomNode) {
    for _ in 0..4 {
        let before = status(&node.public).await.header("etag").to_owned();
        wait::until("another look", async || {
            (status(&node.public).await.header("etag") != before).then_some(())
        })
        .await;
    }
}
