//! The call and the gate: who is let in, when, and how many.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use shared::admission::{AdmissionClaims, JwksSource, Verifier};
use shared::ids::EventId;
use shared::redis::Redis;
use tests::client::Answer;
use tests::keys::ISSUER;
use tests::room::{RoomNode, single};
use tests::{stores, wait};
use waiting_room::queue::Control;
use waiting_room::store::{Store, Tick};

async fn verified(node: &RoomNode, token: &str) -> AdmissionClaims {
    let url = format!("{}/.well-known/jwks.json", node.public.base()).parse().expect("a URL");
    let keys = JwksSource::url(url).expect("a client is built");
    Verifier::new(ISSUER, Arc::new(keys)).verify(token).await.expect("a valid token")
}

/// What a token says, without asking whether it is still good: it may be long over.
fn read(token: &str) -> AdmissionClaims {
    jsonwebtoken::dangerous::insecure_decode(token).expect("a token of ours").claims
}

#[tokio::test(flavor = "multi_thread")]
async fn a_called_person_gets_a_token_and_a_retry_gets_the_very_same() {
    let node = single(&[]).await;
    node.create("sale", &json!({"session_duration_seconds": 300})).await.expect(201);
    let person = node.join("sale").await;
    person.called().await;
    let first = person.claim().await.expect(201);
    let again = person.claim().await.expect(200);
    assert_eq!(first.text, again.text);
    assert_eq!(first.header("cache-control"), "no-store");
    assert_eq!(first.str("checkout_url"), "https://shop.example/");
    assert_eq!(person.status().await, "admitted");

    let claims = verified(&node, &first.str("admission_token")).await;
    assert_eq!((claims.event.as_str(), claims.number), ("sale", 1));
    assert_eq!((claims.nbf, claims.exp), (claims.iat, claims.iat + 300));
}

#[tokio::test(flavor = "multi_thread")]
async fn current_and_next_key_are_published() {
    let node = single(&[]).await;
    let jwks = node.public.get("/.well-known/jwks.json").await.expect(200).json();
    let keys = jwks["keys"].as_array().expect("a list of keys");
    assert_eq!(keys.len(), 2);
    for key in keys {
        assert_eq!((&key["kty"], &key["crv"]), (&json!("OKP"), &json!("Ed25519")));
        assert_eq!((&key["alg"], &key["use"]), (&json!("EdDSA"), &json!("sig")));
        assert!(key["d"].is_null(), "the private half stays private");
    }
    assert_ne!(keys[0]["kid"], keys[1]["kid"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_called_people_claiming_at_once_never_break_rate_or_cap() {
    let node = single(&[]).await;
    let settings = json!({"admission_rate_per_minute": 600, "max_active_sessions": 5});
    node.create("sale", &settings).await.expect(201);
    let mut people = Vec::new();
    for _ in 0..30 {
        people.push(node.join("sale").await);
    }
    people[0].called().await;
    let tokens = wait::until("the cap to be reached", async || {
        let answers = join_all(people.iter().map(|person| person.claim())).await;
        let through = answers.iter().filter(|answer| matches!(answer.status, 200 | 201)).count();
        assert!(through <= 5, "{through} sessions under a cap of 5");
        (through == 5).then_some(answers)
    })
    .await;
    let refused: Vec<&Answer> = tokens.iter().filter(|answer| answer.status >= 400).collect();
    assert_eq!(refused.len(), 25);
    for answer in refused {
        answer.expect_problem(409, "not_ready");
    }
}

/// 600 a minute, 50 at once, 200 people who stay, two nodes.
#[tokio::test(flavor = "multi_thread")]
async fn the_rate_and_the_cap_hold_on_two_nodes_and_the_cap_is_kept_full() {
    const SESSION_SECONDS: u64 = 3;
    let redis = stores::redis_url().await;
    let (one, two) = (RoomNode::start(&redis, &[]).await, RoomNode::start(&redis, &[]).await);
    let settings = json!({
        "admission_rate_per_minute": 600, "max_active_sessions": 50,
        "session_duration_seconds": SESSION_SECONDS,
    });
    one.create("sale", &settings).await.expect(201);
    two.knows("sale").await;
    let mut people = Vec::new();
    for n in 0..200 {
        people.push(if n % 2 == 0 { &one } else { &two }.join("sale").await);
    }
    let tokens = join_all(people.iter().map(|person| person.admitted())).await;
    let claims: Vec<AdmissionClaims> = tokens.iter().map(|token| read(token)).collect();

    let mut started = BTreeMap::<u64, u64>::new();
    for claim in &claims {
        *started.entry(claim.iat).or_default() += 1;
    }
    let within =
        |from: u64, seconds: u64| started.range(from..from + seconds).map(|(_, n)| n).sum();
    let lease = SESSION_SECONDS + shared::admission::LEEWAY_SECONDS;
    let (first, last) =
        (*started.keys().next().expect("tokens"), *started.keys().last().expect("tokens"));
    let mut fullest = 0;
    for second in first..=last {
        let (minute, one_second): (u64, u64) = (within(second, 60), within(second, 1));
        assert!(minute <= 600, "{minute} tokens in the minute from {second}");
        assert!(one_second <= 20, "{one_second} tokens in one second: a burst");
        let active: u64 = within((second + 1).saturating_sub(lease), lease);
        assert!(active <= 50, "{active} sessions at once at {second}");
        fullest = fullest.max(active);
    }
    assert_eq!(fullest, 50, "the cap was never reached");
    // Four fillings of the cap, one lease apart, and at 10 a second five seconds to fill it.
    let ideal = 3 * lease + 5;
    assert!(last - first <= 2 * ideal, "{} s for what needs {ideal} s", last - first);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_no_rolling_minute_are_more_tokens_issued_than_the_rate() {
    let redis = stores::redis_url().await;
    let (one, two) = (RoomNode::start(&redis, &[]).await, RoomNode::start(&redis, &[]).await);
    one.create("sale", &json!({"admission_rate_per_minute": 120})).await.expect(201);
    two.knows("sale").await;
    let mut people = Vec::new();
    for n in 0..150 {
        people.push(if n % 2 == 0 { &one } else { &two }.join("sale").await);
    }
    let tokens = join_all(people.iter().map(|person| person.admitted())).await;
    let mut issued: Vec<u64> = tokens.iter().map(|token| read(token).iat).collect();
    issued.sort_unstable();
    for (n, &from) in issued.iter().enumerate() {
        let minute = issued[n..].iter().take_while(|&&at| at < from + 60).count();
        assert!(minute <= 120, "{minute} tokens in the minute from {from}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn boundary_rank_serving_is_in_and_the_next_is_not() {
    let node = single(&[]).await;
    let settings = json!({"max_active_sessions": 1, "admission_rate_per_minute": 1});
    node.create("sale", &settings).await.expect(201);
    let (first, second) = (node.join("sale").await, node.join("sale").await);
    first.called().await;
    let status = node.public.get("/v1/events/sale/status").await.expect(200);
    assert_eq!(status.number("serving"), 1);
    assert_eq!(second.place().await.expect(200).number("users_ahead"), 0);
    second.claim().await.expect_problem(409, "not_ready");
    first.claim().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_tab_in_front_does_not_hold_up_the_queue() {
    let node = single(&[]).await;
    let settings = json!({
        "max_active_sessions": 1, "claim_window_seconds": 5, "session_duration_seconds": 1,
    });
    node.create("sale", &settings).await.expect(201);
    let _gone = node.join("sale").await;
    let next = node.join("sale").await;
    next.admitted().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_missed_his_turn_keeps_his_number_and_is_called_again() {
    let node = single(&[]).await;
    node.create("sale", &json!({"claim_window_seconds": 5})).await.expect(201);
    let person = node.join("sale").await;
    person.called().await;
    wait::until("the claim window to pass", async || {
        (person.status().await == "missed").then_some(())
    })
    .await;
    person.claim().await.expect_problem(410, "missed");
    let back = person.rejoin().await.expect(200);
    assert_eq!((back.str("status").as_str(), back.number("number")), ("ready", person.number));
    person.claim().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_token_and_the_place_goes_to_the_next() {
    let node = single(&[]).await;
    let settings = json!({"max_active_sessions": 1, "session_duration_seconds": 1});
    node.create("sale", &settings).await.expect(201);
    let (first, second) = (node.join("sale").await, node.join("sale").await);
    first.called().await;
    let token = first.claim().await.expect(201).str("admission_token");
    let first_claims = verified(&node, &token).await;
    let second_claims = verified(&node, &second.admitted().await).await;
    let lease_end = first_claims.exp + shared::admission::LEEWAY_SECONDS;
    assert!(second_claims.iat >= lease_end, "{second_claims:?} before {lease_end}");
    // His turn is over: only a new place helps.
    first.claim().await.expect_problem(410, "missed");
    assert_eq!(first.rejoin().await.expect(201).number("number"), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counter_never_passes_the_last_number_so_nothing_is_saved_up() {
    let node = single(&[]).await;
    node.create("sale", &json!({"admission_rate_per_minute": 600})).await.expect(201);
    let person = node.join("sale").await;
    person.admitted().await;
    let status = node.public.get("/v1/events/sale/status").await.expect(200);
    assert_eq!((status.number("serving"), status.number("last_number")), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_lets_nobody_in_and_resumed_goes_on() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let called = node.join("sale").await;
    called.called().await;
    let paused = node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    assert_eq!(paused.str("status"), "paused");
    let late = node.join("sale").await;
    assert_eq!(late.status().await, "paused");
    assert_eq!(called.status().await, "paused");
    called.claim().await.expect_problem(409, "not_ready");
    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    called.claim().await.expect(201);
    late.admitted().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_and_draining_rooms_take_nobody_new() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    node.ops.post("/v1/admin/events/sale/drain").await.expect(200);
    node.public.post("/v1/events/sale/queue").await.expect_problem(409, "closed");
    person.admitted().await;
    node.ops.post("/v1/admin/events/sale/close").await.expect(200);
    node.public.post("/v1/events/sale/queue").await.expect_problem(409, "closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_ticket_stays_forged_after_any_refresh() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    let (head, signature) = person.ticket.rsplit_once('.').expect("three parts");
    let forged_signature: String = signature.chars().rev().collect();
    let forged = node.public.with_bearer(format!("{head}.{forged_signature}"));
    forged.get("/v1/events/sale/queue").await.expect_problem(401, "invalid_token");
    // Whoever joins with it is a new person, and what he gets in exchange is his own.
    let joined = forged.post("/v1/events/sale/queue").await.expect(201);
    assert_eq!(joined.number("number"), 2);
    for _ in 0..3 {
        forged.post("/v1/events/sale/admission").await.expect_problem(401, "invalid_token");
        forged.post("/v1/events/sale/queue/heartbeat").await.expect_problem(401, "invalid_token");
    }
    assert_eq!(person.rejoin().await.expect(200).number("number"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn credit_is_not_saved_up_while_nobody_waits() {
    let node = single(&[]).await;
    node.create("sale", &json!({"admission_rate_per_minute": 60})).await.expect(201);
    let first = node.join("sale").await;
    first.admitted().await;
    // Nobody comes for some ticks: long enough for several tokens, had they been saved.
    let seen = async || node.ops.get("/v1/admin/events/sale/metrics").await.number("at_ms");
    let idle_from = seen().await;
    wait::until("some time to pass for the store", async || {
        (seen().await >= idle_from + 5_000).then_some(())
    })
    .await;
    let people = join_all((0..10).map(|_| node.join("sale"))).await;
    people[0].called().await;
    let claims = join_all(people.iter().map(|person| person.claim())).await;
    let through = claims.iter().filter(|claim| claim.status == 201).count();
    assert!(through <= 1, "{through} at once after an idle time");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_gate_people_are_let_through_in_the_order_in_which_they_came() {
    let node = single(&[]).await;
    node.create("sale", &json!({"admission_rate_per_minute": 6_000})).await.expect(201);
    let people = join_all((0..20).map(|_| node.join("sale"))).await;
    for person in &people {
        person.called().await;
    }
    // All are called. Now the gate becomes narrow, and a line forms.
    let narrow = json!({"admission_rate_per_minute": 60, "max_active_sessions": 1});
    node.ops.patch("/v1/admin/events/sale", &narrow).await.expect(200);
    people[0].admitted().await;
    let line = &people[1..13];
    for person in line {
        assert_eq!(person.claim().await.code(), "not_ready");
    }
    node.ops.patch("/v1/admin/events/sale", &json!({"max_active_sessions": 100})).await.expect(200);
    let through = Mutex::new(Vec::new());
    // The last ones ask the most often.
    join_all(line.iter().zip(0_u32..).map(|(person, n)| {
        let (through, pause) =
            (&through, Duration::from_millis(400) - n * Duration::from_millis(30));
        async move {
            while !matches!(person.claim().await.status, 200 | 201) {
                tokio::time::sleep(pause).await;
            }
            through.lock().expect("no panic").push(n);
        }
    }))
    .await;
    let through = through.into_inner().expect("no panic");
    let before = |at: usize| through[..at].iter().filter(|&&earlier| earlier > through[at]).count();
    let overtaken: usize = (0..through.len()).map(before).sum();
    assert!(overtaken <= 6, "{overtaken} of 66 pairs in the wrong order: {through:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_have_seen_the_same_call_nobody_twice() {
    let redis = stores::redis_url().await;
    let node = RoomNode::start(&redis, &[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    for _ in 0..20 {
        node.join("sale").await;
    }
    // No node ticks but the two of this test.
    node.abort();
    let store = Store::new(Redis::connect(&redis).await.expect("Redis"));
    let event: EventId = "sale".parse().expect("a slug");
    store.control(&event, Control::Open).await.expect("opened");
    let tick = Tick { people: 5, ..Tick::default() };
    for _ in 0..2 {
        let seen = store.tick(&event, tick).await.expect("an answer").expect("a room");
        assert_eq!((seen.serving, seen.called_total), (5, 5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gaps_in_the_numbers_stop_nothing() {
    let node = single(&[]).await;
    let settings = json!({"max_active_sessions": 2, "session_duration_seconds": 1});
    node.create("sale", &settings).await.expect(201);
    let mut people = Vec::new();
    for _ in 0..12 {
        people.push(node.join("sale").await);
    }
    for person in people.iter().step_by(2) {
        assert_eq!(person.leave().await.status, 204);
    }
    // Sessions end one after another, past the gaps, until everybody has been let in.
    join_all(people.iter().skip(1).step_by(2).map(|person| person.admitted())).await;
}
