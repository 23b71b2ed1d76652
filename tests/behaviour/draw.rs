//! The pre-queue and the draw: random, and open to anybody's checking.

use std::collections::BTreeSet;

use serde_json::json;
use tests::room::{RoomNode, single};
use tests::{stores, wait};
use waiting_room::queue::{Draw, Seed};

const FAR: &str = "2100-01-01T00:00:00Z";

async fn open(node: &RoomNode) {
    let now = json!({"opens_at": "2020-01-01T00:00:00Z"});
    node.ops.patch("/v1/admin/events/sale", &now).await.expect(200);
    wait::until("the room to open", async || {
        let status = node.public.get("/v1/events/sale/status").await;
        (status.str("status") == "open").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_draw_is_committed_to_before_and_can_be_recomputed_after_the_opening() {
    const PEOPLE: u64 = 40;
    let node = single(&[]).await;
    let settings = json!({
        "queueing_method": "random", "opens_at": FAR, "admission_rate_per_minute": 1,
        "max_active_sessions": 1,
    });
    node.create("sale", &settings).await.expect(201);
    let before = node.public.get("/v1/events/sale/draw").await.expect(200);
    let commitment = before.str("commitment");
    assert!(before.json()["seed"].is_null() && before.json()["n"].is_null(), "{before:?}");

    let mut people = Vec::new();
    for _ in 0..PEOPLE {
        people.push(node.join("sale").await);
    }
    assert_eq!(people[7].place().await.expect(200).str("status"), "pre_queue");
    open(&node).await;
    let late = node.join("sale").await;

    let after = node.public.get("/v1/events/sale/draw").await.expect(200);
    let seed = Seed::from_hex(&after.str("seed")).expect("the seed is published");
    assert_eq!((seed.commitment(), after.str("commitment")), (commitment.clone(), commitment));
    assert_eq!(after.number("n"), PEOPLE);
    let draw = Draw::new(&seed, "", PEOPLE);
    let serving = node.public.get("/v1/events/sale/status").await.number("serving");
    let mut ranks = BTreeSet::new();
    for person in &people {
        let rank = draw.rank(person.number);
        ranks.insert(rank);
        let place = person.place().await.expect(200);
        if rank > serving {
            assert_eq!(place.number("users_ahead"), rank - serving - 1, "number {}", person.number);
        } else {
            assert_eq!(place.str("status"), "ready");
        }
    }
    assert_eq!(ranks, (1..=PEOPLE).collect());
    assert_eq!(late.place().await.expect(200).number("users_ahead"), PEOPLE - serving);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_with_a_beacon_does_not_open_before_its_value_is_known() {
    let node = single(&[]).await;
    let settings = json!({
        "queueing_method": "random", "opens_at": "2020-01-01T00:00:00Z",
        "draw_beacon": "the hash of block 900000",
    });
    node.create("sale", &settings).await.expect(201);
    let person = node.join("sale").await;
    assert_eq!(person.status().await, "pre_queue");
    person.claim().await.expect_problem(409, "not_ready");
    let value = json!({"draw_beacon_value": "00000000000000000001"});
    node.ops.patch("/v1/admin/events/sale", &value).await.expect(200);
    person.called().await;
    let draw = node.public.get("/v1/events/sale/draw").await.expect(200);
    assert_eq!(draw.str("draw_beacon_value"), "00000000000000000001");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_come_first_served_skips_the_draw() {
    let node = single(&[]).await;
    let settings = json!({"opens_at": FAR, "admission_rate_per_minute": 1});
    node.create("sale", &settings).await.expect(201);
    node.public.get("/v1/events/sale/draw").await.expect_problem(404, "not_found");
    let people = [node.join("sale").await, node.join("sale").await, node.join("sale").await];
    open(&node).await;
    people[0].called().await;
    let serving = node.public.get("/v1/events/sale/status").await.number("serving");
    for person in &people[1..] {
        assert_eq!(person.place().await.number("users_ahead"), person.number - serving - 1);
    }
}

/// Opening costs one step, whoever is there: a million numbers are given out without asking each.
#[tokio::test(flavor = "multi_thread")]
async fn a_million_in_the_pre_queue_are_drawn_in_one_step() {
    const PEOPLE: u64 = 1_000_000;
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    let settings = json!({"queueing_method": "random", "opens_at": FAR});
    node.create("sale", &settings).await.expect(201);
    let person = node.join("sale").await;
    stores::redis_command(&redis, &["HSET", "stanchion:{sale}:room", "last_number", "1000000"])
        .await;
    open(&node).await;
    let draw = node.public.get("/v1/events/sale/draw").await.expect(200);
    assert_eq!(draw.number("n"), PEOPLE);
    let seed = Seed::from_hex(&draw.str("seed")).expect("the seed is published");
    let rank = Draw::new(&seed, "", PEOPLE).rank(person.number);
    let place = person.place().await.expect(200);
    if place.str("status") == "waiting" {
        assert!(place.number("users_ahead") < rank);
    }
    let status = node.public.get("/v1/events/sale/status").await.expect(200);
    let there: u64 = status.json()["there_by_stretch"]
        .as_array()
        .expect("counts")
        .iter()
        .map(|count| count.as_u64().expect("a count"))
        .sum();
    assert_eq!(there + status.number("serving"), PEOPLE);
}
