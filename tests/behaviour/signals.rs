//! What the checkout tells the waiting room: who is done, what is left, how busy it is.

use std::time::Duration;

use serde_json::{Value, json};
use shared::redis::Redis;
use shared::signals::{self, Stock};
use tests::client::{Answer, Client};
use tests::room::{Person, RoomNode};
use tests::sale::{Buyer, CheckoutNode, new_key};
use tests::{stores, wait};
use uuid::Uuid;

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

#[tokio::test(flavor = "multi_thread")]
async fn who_has_bought_makes_room_for_the_next_at_once() {
    let sale = Sale::with_cap(1, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    is_kept_out(&queue[1]).await;
    first.confirm(&id).await.expect(200);
    admitted(&queue[1]).await;
    queue[0].claim().await.expect_problem(410, "missed");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_let_go_makes_room_for_the_next_at_once() {
    let sale = Sale::with_cap(1, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    is_kept_out(&queue[1]).await;
    first.cancel(&id).await.expect(200);
    admitted(&queue[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_holds_have_expired_make_room_for_the_next_at_once() {
    let sale = Sale::with_cap(2, 10).await;
    let queue = sale.people(4).await;
    for person in &queue[..2] {
        let (_, id) = sale.holder(person).await;
        sale.one.ledger.expire_after(&id, Duration::from_secs(1)).await;
    }
    is_kept_out(&queue[2]).await;
    admitted(&queue[2]).await;
    admitted(&queue[3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_something_else_with_the_same_admission_stays() {
    let sale = Sale::with_cap(2, 10).await;
    let queue = sale.people(4).await;
    let (stays, given_up) = sale.holder(&queue[0]).await;
    let kept = stays.hold(&sale.sector).await;
    let (goes, id) = sale.holder(&queue[1]).await;
    stays.cancel(&given_up).await.expect(200);
    // They are told of in this order.
    goes.cancel(&id).await.expect(200);
    admitted(&queue[2]).await;
    looks(&sale.room).await;
    is_kept_out(&queue[3]).await;
    let last = stays.hold(&sale.sector).await;

    stays.confirm(&kept).await.expect(200);
    stays.confirm(&last).await.expect(200);
    admitted(&queue[3]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exits_admit_exactly_as_many_as_left() {
    let sale = Sale::with_cap(5, 50).await;
    let queue = sale.people(12).await;
    let mut holders = Vec::new();
    for person in &queue[..5] {
        holders.push(sale.holder(person).await);
    }
    for (buyer, id) in &holders[..3] {
        buyer.confirm(id).await.expect(200);
    }
    for person in &queue[5..8] {
        admitted(person).await;
    }
    looks(&sale.room).await;
    for person in &queue[8..] {
        is_kept_out(person).await;
    }
    // The same exits told of again let nobody in.
    for (buyer, id) in &holders[..3] {
        buyer.confirm(id).await.expect(200);
    }
    let (buyer, id) = &holders[3];
    buyer.cancel(id).await.expect(200);
    admitted(&queue[8]).await;
    looks(&sale.room).await;
    for person in &queue[9..] {
        is_kept_out(person).await;
    }
    let room = sale.room.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(room.number("tokens_total"), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_session_reserves_nothing_more_at_any_instance() {
    let sale = Sale::with_cap(10, 1_000).await;
    let person = sale.people(1).await.remove(0);
    let buyer = sale.buyer(&person).await;
    let reserved = buyer.reserve(&sale.sector, 1, "the-first").await.expect(201);
    let id = reserved.str("id");
    buyer.confirm(&id).await.expect(200);
    for node in [&sale.one, &sale.two] {
        let buyer = buyer.at(node);
        let refused = wait::until("the token to be refused", async || {
            let answer = buyer.reserve_one(&sale.sector).await;
            (answer.status != 201).then_some(answer)
        })
        .await;
        refused.expect_problem(403, "not_admitted");
        assert!(refused.str("detail").contains("admission is over"), "{refused:?}");
        // What was decided stays decided, and what was bought stays his.
        let again = buyer.reserve(&sale.sector, 1, "the-first").await.expect(200);
        assert_eq!(again.text, reserved.text);
        assert_eq!(buyer.get(&id).await.expect(200).str("state"), "confirmed");
        buyer.cancel(&id).await.expect_problem(409, "invalid_transition");
        let owner = node.with_token(reserved.str("reservation_token"));
        owner.get(&id).await.expect(200);
    }
    // Others are not refused with him.
    let other = sale.people(1).await.remove(0);
    sale.buyer(&other).await.at(&sale.two).hold(&sale.sector).await;
    sale.one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_refused_stays_refused_without_redis_and_nobody_else_is() {
    let redis = stores::own_redis(&stores::scratch()).await;
    let sale = Sale::start(&redis.url(), &json!({}), 1_000).await;
    let queue = sale.people(2).await;
    let (done, id) = sale.holder(&queue[0]).await;
    let other = sale.buyer(&queue[1]).await;
    done.cancel(&id).await.expect(200);
    for node in [&sale.one, &sale.two] {
        wait::until("the token to be refused", async || {
            (done.at(node).reserve_one(&sale.sector).await.status == 403).then_some(())
        })
        .await;
    }
    redis.stop().await.expect("Redis stops");
    for node in [&sale.one, &sale.two] {
        done.at(node).reserve_one(&sale.sector).await.expect_problem(403, "not_admitted");
        other.at(node).hold(&sale.sector).await;
    }
    // Nor does anybody wait for what cannot be told now.
    let id = other.hold(&sale.sector).await;
    other.cancel(&id).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ending_that_could_not_be_told_is_told_when_redis_is_back() {
    let mut redis = stores::own_redis_with(&stores::scratch(), &["--appendonly", "yes"]).await;
    let room = json!({"max_active_sessions": 1});
    let sale = Sale::start(&redis.url(), &room, 10).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    redis.stop().await.expect("Redis stops");
    first.confirm(&id).await.expect(200);
    // Long enough that it was tried and could not be told.
    wait::until("Redis to be missed", async || {
        (sale.status().await.json()["stale"] == true).then_some(())
    })
    .await;
    redis.restart().await.expect("Redis starts again");
    admitted(&queue[1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sold_out_while_ready() {
    let sale = Sale::with_cap(10, 1).await;
    let queue = sale.people(2).await;
    let first = sale.buyer(&queue[0]).await;
    // He was called before the last place was taken.
    queue[1].called().await;
    let id = first.hold(&sale.sector).await;
    first.confirm(&id).await.expect(200);
    wait::until("the room to be sold out", async || {
        (sale.status().await.str("status") == "sold_out").then_some(())
    })
    .await;
    queue[1].claim().await.expect_problem(409, "sold_out");
    assert_eq!(queue[1].status().await, "sold_out");
    sale.room.public.post("/v1/events/sale/queue").await.expect_problem(409, "sold_out");
    let status = sale.status().await;
    assert_eq!(status.str("reason"), "sold_out");
    assert!(status.json()["estimated_wait_seconds"].is_null(), "{status:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_all_places_in_baskets_nobody_is_called_until_one_is_given_up() {
    let sale = Sale::with_cap(10, 2).await;
    let queue = sale.people(2).await;
    let (first, id) = sale.holder(&queue[0]).await;
    sale.holder(&queue[1]).await;
    sale.reason_becomes("all_in_baskets").await;
    let waits = sale.people(1).await.remove(0);
    looks(&sale.room).await;
    let status = sale.status().await;
    assert_eq!((status.str("status"), status.number("waiting")), ("open".to_owned(), 1));
    assert_eq!(status.str("reason"), "all_in_baskets");
    assert_eq!(waits.status().await, "waiting");
    is_kept_out(&waits).await;
    first.cancel(&id).await.expect(200);
    admitted(&waits).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_that_has_started_again_says_at_once_what_is_left() {
    let redis = stores::redis_url().await;
    let database = stores::database_url().await;
    let room = RoomNode::start(&redis, &[]).await;
    let checkout = CheckoutNode::start(&database, &redis, &[]).await;
    checkout.on_sale("sale", 10).await;
    room.create("sale", &json!({})).await.expect(201);
    drop(checkout);
    // What a checkout said before it crashed is not so any more, and nobody is sent who would ask.
    let stale = Stock { left: 0, held: 1, queue_delay_ms: 0 };
    publish(&Redis::connect(&redis).await.expect("a URL"), stale).await;
    let waits = room.join("sale").await;
    let _again = CheckoutNode::start(&database, &redis, &[]).await;
    admitted(&waits).await;
}

async fn publish(redis: &Redis, stock: Stock) {
    let event = "sale".parse().expect("a slug");
    signals::publish(redis, &event, Uuid::nil(), stock).await.expect("Redis answers");
}

/// Publishes a wait and lets the next look adjust the rate, instead of waiting for a second to pass.
async fn adjust(redis: &Redis, url: &str, queue_delay_ms: u64) {
    publish(redis, Stock { left: 100, held: 0, queue_delay_ms }).await;
    let room = ["HSET", "stanchion:{sale}:room", "rate_adjusted_ms", "0"];
    stores::redis_command(url, &room).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_checkout_slows_the_room_down_and_it_recovers() {
    const RATE: u64 = 600;
    let url = stores::redis_url().await;
    let (node, redis) = (RoomNode::start(&url, &[]).await, Redis::connect(&url).await);
    let redis = redis.expect("a URL");
    node.create("sale", &json!({"admission_rate_per_minute": RATE})).await.expect(201);
    node.knows("sale").await;
    let until_rate = async |queue_delay_ms, wanted| {
        let mut seen = Vec::new();
        wait::until("the rate to change", async || {
            adjust(&redis, &url, queue_delay_ms).await;
            let status = status(&node.public).await;
            let rate = status.number("effective_rate_per_minute");
            assert!((RATE / 10..=RATE).contains(&rate), "{rate} a minute");
            assert_eq!(status.number("admission_rate_per_minute"), RATE);
            let busy = if rate < RATE { "checkout_busy" } else { "configured_rate" };
            assert_eq!(status.str("reason"), busy);
            seen.push(rate);
            (rate == wanted).then_some(())
        })
        .await;
        looks(&node).await;
        seen.dedup();
        seen
    };
    let falling = until_rate(1_000, RATE / 10).await;
    assert!(falling.is_sorted_by(|before, after| before > after), "{falling:?}");
    let rising = until_rate(0, RATE).await;
    assert!(rising.is_sorted_by(|before, after| before < after), "{rising:?}");
    // Down in a few steps, up again in many.
    assert!(falling.len() < rising.len(), "{falling:?} {rising:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_in_line_at_a_checkout_are_what_makes_it_busy() {
    let sale = Sale::with_cap(100, 1_000).await;
    let person = sale.people(1).await.remove(0);
    let buyer = sale.buyer(&person).await;
    // Somebody has the sector at hand, so that whoever writes to it waits.
    let pool = sale.one.ledger.pool().clone();
    let mut connection = pool.acquire().await.expect("a connection");
    for statement in ["BEGIN", "SELECT * FROM sector_stock FOR UPDATE"] {
        sqlx::query(statement).execute(&mut *connection).await.expect("the lock is had");
    }
    let line: Vec<_> = (0..8)
        .map(|_| {
            let (buyer, sector) = (buyer.clone(), sale.sector.clone());
            tokio::spawn(async move { buyer.reserve(&sector, 1, &new_key()).await })
        })
        .collect();
    sale.reason_becomes("checkout_busy").await;
    sqlx::query("ROLLBACK").execute(&mut *connection).await.expect("the lock is given up");
    for reserving in line {
        reserving.await.expect("an answer of whatever kind");
    }
    sale.reason_becomes("configured_rate").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_does_not_outlive_its_lease() {
    let room = json!({"max_active_sessions": 1, "session_duration_seconds": 1});
    let sale = Sale::start(&stores::redis_url().await, &room, 10).await;
    let queue = sale.people(2).await;
    let (first, _) = sale.holder(&queue[0]).await;
    first.hold(&sale.sector).await;
    admitted(&queue[1]).await;
    // The place is somebody else's now.
    first.reserve_one(&sale.sector).await.expect_problem(401, "invalid_token");
    first.at(&sale.two).reserve_one(&sale.sector).await.expect_problem(401, "invalid_token");
}
