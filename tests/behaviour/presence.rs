//! Who is there, who is not, and who comes back.

use std::time::Duration;

use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use tests::room::{Person, RoomNode, single};
use tests::{stores, wait};

const ROOM: &str = "stanchion:{sale}:room";

/// Lets a grace period pass: by putting its beginning back, so that nobody has to wait for it.
async fn grace_passes(redis: &str, node: &RoomNode) {
    let since =
        || async { stores::redis_command(redis, &["HGET", ROOM, "presence_since_ms"]).await };
    let before: u64 = since().await.parse().expect("a time");
    let back = (before - 120_000).to_string();
    stores::redis_command(redis, &["HSET", ROOM, "presence_since_ms", &back]).await;
    wait::until("the next grace period", async || {
        (since().await.parse::<u64>().ok()? > before).then_some(())
    })
    .await;
    node.knows("sale").await;
}

async fn heartbeats(people: &[Person]) {
    let beats = people.iter().map(|person| person.client.post("/v1/events/sale/queue/heartbeat"));
    for answer in join_all(beats).await {
        assert_eq!(answer.status, 204);
    }
}

async fn heartbeats_written(redis: &str, people: usize) {
    wait::until("the heartbeats to be written", async || {
        let seen = stores::redis_command(redis, &["BITCOUNT", "stanchion:{sale}:seen"]).await;
        (seen.parse::<usize>().ok()? >= people).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn absent_people_are_passed_over_and_called_at_once_when_they_come_back() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({"claim_window_seconds": 5})).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let mut people = Vec::new();
    for _ in 0..20 {
        people.push(node.join("sale").await);
    }
    // The first fifteen close their tabs; two grace periods later they are not there.
    let (gone, here) = people.split_at(15);
    grace_passes(&redis, &node).await;
    heartbeats(here).await;
    heartbeats_written(&redis, here.len()).await;
    grace_passes(&redis, &node).await;
    let ahead = here[4].place().await.expect(200).number("users_ahead");
    assert_eq!(ahead, 4, "only those who are there count");

    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    for person in here {
        person.admitted().await;
    }
    let metrics = node.ops.get("/v1/admin/events/sale/metrics").await.expect(200);
    assert!(metrics.number("called_total") <= 5, "absent people used up calls: {metrics:?}");

    // Back, with the number he had, and not behind those who came later.
    let late = wait::until("the turn to be missed", async || {
        (gone[3].status().await == "missed").then(|| gone[3].clone())
    })
    .await;
    let back = late.rejoin().await.expect(200);
    assert_eq!((back.str("status").as_str(), back.number("number")), ("ready", late.number));
    late.claim().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_polls_and_who_follows_a_stream_is_there_without_a_heartbeat() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({})).await.expect(201);
    // Closed, the next poll is told to be later than people are noted: so each one counts.
    let people = join_all((0..3).map(|_| node.join("sale"))).await;
    node.ops.post("/v1/admin/events/sale/close").await.expect(200);
    grace_passes(&redis, &node).await;
    wait::until("the closed room to be seen", async || {
        (people[0].status().await == "closed").then_some(())
    })
    .await;
    heartbeats_written(&redis, 1).await;
    let stream = people[1].client.request(Method::GET, "/v1/events/sale/queue/stream");
    let stream = stream.send().await.expect("an answer");
    assert_eq!(stream.status(), 200);
    heartbeats_written(&redis, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_tab_with_one_timer_a_minute_keeps_its_place() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let hidden = [node.join("sale").await];
    // One heartbeat in every grace period is fewer than one a minute.
    for _ in 0..3 {
        heartbeats(&hidden).await;
        heartbeats_written(&redis, 1).await;
        grace_passes(&redis, &node).await;
        let status = node.public.get("/v1/events/sale/status").await.expect(200);
        assert_eq!(status.number("waiting"), 1);
    }
    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    hidden[0].called().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_tab_and_a_reload_are_one_person() {
    let node = single(&[]).await;
    node.create("sale", &json!({"admission_rate_per_minute": 60})).await.expect(201);
    let person = node.join("sale").await;
    let tabs = join_all((0..10).map(|_| person.rejoin())).await;
    for tab in tabs {
        assert_eq!(tab.expect(200).number("number"), person.number);
    }
    person.called().await;
    let claims = join_all((0..10).map(|_| person.claim())).await;
    let issued = claims.iter().filter(|claim| claim.status == 201).count();
    assert_eq!(issued, 1);
    let tokens: std::collections::BTreeSet<_> =
        claims.iter().map(|claim| claim.str("admission_token")).collect();
    assert_eq!(tokens.len(), 1, "one person, one token");
    let metrics = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!((metrics.number("tokens_total"), metrics.number("last_number")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn users_ahead_never_rises_for_who_stays() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let mut people = Vec::new();
    for _ in 0..10 {
        people.push(node.join("sale").await);
    }
    let stays = people.pop().expect("ten people");
    let everybody_else = people;
    grace_passes(&redis, &node).await;
    heartbeats(std::slice::from_ref(&stays)).await;
    heartbeats_written(&redis, 1).await;
    grace_passes(&redis, &node).await;
    let alone = stays.place().await.expect(200);
    assert_eq!(alone.number("users_ahead"), 0);
    // The others come back; what he was told holds, and whoever asks anew is told the truth.
    heartbeats(&everybody_else).await;
    wait::until("the others to be there again", async || {
        let status = node.public.get("/v1/events/sale/status").await;
        (status.number("waiting") == 10).then_some(())
    })
    .await;
    let told = Person { client: stays.client.with_bearer(alone.str("ticket")), ..stays.clone() };
    assert_eq!(told.place().await.expect(200).number("users_ahead"), 0);
    assert_eq!(stays.place().await.expect(200).number("users_ahead"), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn polling_much_earlier_than_told_is_refused() {
    let node = single(&[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let person = node.join("sale").await;
    person.poll().await.expect(200);
    let early = person.poll().await;
    early.expect_problem(429, "rate_limited");
    assert!(early.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    node.join("sale").await.poll().await.expect(200);
    assert_eq!(person.place().await.expect(200).number("number"), person.number);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_costs_no_redis_command() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let node = RoomNode::start(&redis.url(), &[]).await;
    node.create("sale", &json!({"opens_at": "2100-01-01T00:00:00Z"})).await.expect(201);
    let mut people = Vec::new();
    for _ in 0..20 {
        people.push(node.join("sale").await);
    }
    // What cannot be asked was not needed.
    redis.stop().await.expect("Redis stops");
    for person in &people {
        person.poll().await.expect(200);
        let heartbeat = person.client.post("/v1/events/sale/queue/heartbeat").await;
        assert_eq!(heartbeat.status, 204);
        person.client.get("/v1/events/sale/status").await.expect(200);
    }
    redis.restart().await.expect("Redis starts again");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_near_the_front_are_told_by_a_stream() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    let person = node.join("sale").await;
    let request = person.client.request(reqwest::Method::GET, "/v1/events/sale/queue/stream");
    let mut stream = request.send().await.expect("an answer");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    assert_eq!(stream.headers()["cache-control"], "no-store");
    let mut next = async |word: &str| {
        let mut text = String::new();
        // One deadline for all of it: what keeps the stream alive comes in time for ever.
        let told = async {
            while !text.contains(word) {
                let chunk = stream.chunk().await.expect("an open stream").expect("more");
                text.push_str(&String::from_utf8_lossy(&chunk));
            }
        };
        tokio::time::timeout(Duration::from_secs(30), told).await.expect("told in time");
    };
    next(r#""status":"paused""#).await;
    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    next(r#""status":"ready""#).await;
}
