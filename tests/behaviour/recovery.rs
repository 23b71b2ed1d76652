//! A lost Redis loses nobody's place, and lets nobody in twice.

use futures::future::join_all;
use serde_json::json;
use tests::room::{Person, RoomNode};
use tests::{stores, wait};

const CAP: u64 = 6;

/// A sale with a small cap, half of it used, and people waiting.
async fn sale(nodes: &[RoomNode]) -> (Vec<Person>, Vec<String>) {
    let settings = json!({
        "admission_rate_per_minute": 6_000, "max_active_sessions": CAP, "claim_window_seconds": 600,
    });
    nodes[0].create("sale", &settings).await.expect(201);
    for node in nodes {
        node.knows("sale").await;
    }
    let mut people = Vec::new();
    for n in 0..20 {
        people.push(nodes[n % nodes.len()].join("sale").await);
    }
    let tokens = join_all(people[..4].iter().map(|person| person.admitted())).await;
    (people, tokens)
}

/// Everybody tries; how many sessions there are at most.
async fn everybody_claims(people: &[Person]) -> u64 {
    let claims = join_all(people.iter().map(|person| person.claim())).await;
    claims.iter().map(|claim| u64::from(matches!(claim.status, 200 | 201))).sum()
}

async fn restored(nodes: &[RoomNode], epoch: &str, redis: &str) {
    wait::until("the room to be restored", async || {
        let now = stores::redis_command(redis, &["HGET", "stanchion:{sale}:room", "epoch"]).await;
        (!now.is_empty() && now != epoch).then_some(())
    })
    .await;
    for node in nodes {
        node.knows("sale").await;
    }
}

async fn check_nothing_is_lost(nodes: &[RoomNode], people: &[Person], tokens: &[String]) {
    for person in people {
        let place = person.rejoin().await.expect(200);
        assert_eq!(place.number("number"), person.number);
    }
    // Who had a token has the very same; and the sessions of before count.
    wait::until("the gate to open again", async || {
        let again = people[0].claim().await;
        (again.status == 200).then(|| assert_eq!(again.str("admission_token"), tokens[0]))
    })
    .await;
    let through = wait::until("the cap to be full again", async || {
        let through = everybody_claims(people).await;
        assert!(through <= CAP, "{through} sessions under a cap of {CAP}");
        (through == CAP).then_some(through)
    })
    .await;
    assert_eq!(through, CAP);
    for (person, token) in people.iter().zip(tokens) {
        assert_eq!(&person.claim().await.expect(200).str("admission_token"), token);
    }
    // New people stand behind everybody.
    let new = nodes[0].join("sale").await;
    assert!(new.number > 20, "number {} was given out twice", new.number);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flushed_redis_loses_no_place_and_lets_nobody_in_twice() {
    let redis = stores::own_redis(&stores::scratch()).await;
    let nodes =
        [RoomNode::start(&redis.url(), &[]).await, RoomNode::start(&redis.url(), &[]).await];
    let (people, tokens) = sale(&nodes).await;
    let url = redis.url();
    let epoch = stores::redis_command(&url, &["HGET", "stanchion:{sale}:room", "epoch"]).await;
    stores::redis_command(&url, &["FLUSHALL"]).await;
    restored(&nodes, &epoch, &url).await;
    check_nothing_is_lost(&nodes, &people, &tokens).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_has_issued_that_is_lost_with_the_store_still_counts() {
    let redis = stores::own_redis(&stores::scratch()).await;
    let url = redis.url();
    let (lost, node) = (RoomNode::start(&url, &[]).await, RoomNode::start(&url, &[]).await);
    lost.create("sale", &json!({"admission_rate_per_minute": 6_000})).await.expect(201);
    node.knows("sale").await;
    let (first, second) = (lost.join("sale").await, node.join("sale").await);
    tokio::join!(first.called(), second.called());
    let slow = json!({"admission_rate_per_minute": 1});
    lost.ops.patch("/v1/admin/events/sale/rate", &slow).await.expect(200);
    first.admitted().await;
    lost.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    wait::until("the other node to have seen it all", async || {
        (second.status().await == "paused").then_some(())
    })
    .await;
    let seen = || async { node.ops.get("/v1/admin/events/sale").await.expect(200) };
    let before = seen().await;
    assert_eq!((before.number("active_sessions"), before.number("serving")), (1, 2));

    let epoch = stores::redis_command(&url, &["HGET", "stanchion:{sale}:room", "epoch"]).await;
    lost.abort();
    stores::redis_command(&url, &["FLUSHALL"]).await;
    restored(std::slice::from_ref(&node), &epoch, &url).await;
    let after = seen().await;
    assert_eq!((after.number("active_sessions"), after.number("serving")), (1, 2), "{after:?}");
    node.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    wait::until("the gate to say that it is the rate", async || {
        let refused = second.claim().await;
        refused.expect_problem(409, "not_ready");
        refused.str("detail").contains("steady rate").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_restarts_empty_loses_no_place() {
    let directory = stores::scratch();
    let mut redis = stores::own_redis_with(&directory, &["--appendonly", "no"]).await;
    let nodes =
        [RoomNode::start(&redis.url(), &[]).await, RoomNode::start(&redis.url(), &[]).await];
    let (people, tokens) = sale(&nodes).await;
    let url = redis.url();
    let epoch = stores::redis_command(&url, &["HGET", "stanchion:{sale}:room", "epoch"]).await;
    redis.kill().await.expect("Redis is killed");
    stores::forget(&directory);
    redis.restart().await.expect("Redis starts again");
    restored(&nodes, &epoch, &url).await;
    check_nothing_is_lost(&nodes, &people, &tokens).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_restarts_with_its_data_goes_on_as_before() {
    let mut redis = stores::own_redis(&stores::scratch()).await;
    let nodes = [RoomNode::start(&redis.url(), &[]).await];
    let (people, tokens) = sale(&nodes).await;
    redis.stop().await.expect("Redis stops");
    redis.restart().await.expect("Redis starts again");
    check_nothing_is_lost(&nodes, &people, &tokens).await;
}

/// A replica that was behind becomes the primary: by putting the room back to an earlier copy.
#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_replica_that_was_behind_gets_back_what_it_missed() {
    let primary = stores::own_redis(&stores::scratch()).await;
    let nodes =
        [RoomNode::start(&primary.url(), &[]).await, RoomNode::start(&primary.url(), &[]).await];
    let settings = json!({
        "admission_rate_per_minute": 6_000, "max_active_sessions": CAP, "claim_window_seconds": 600,
    });
    nodes[0].create("sale", &settings).await.expect(201);
    nodes[1].knows("sale").await;
    let first = nodes[0].join("sale").await;
    let early = first.admitted().await;
    let url = primary.url();
    let keys =
        ["room", "issued", "sessions", "admissions", "spent", "present", "seen", "calls", "came"];
    for key in keys {
        let key = format!("stanchion:{{sale}}:{key}");
        stores::redis_command(&url, &["COPY", &key, &format!("replica:{{sale}}:{key}")]).await;
    }
    let mut people = vec![first];
    for n in 1..20 {
        people.push(nodes[n % 2].join("sale").await);
    }
    let mut tokens = vec![early];
    tokens.extend(join_all(people[1..4].iter().map(|person| person.admitted())).await);
    wait::until("both nodes to have seen the tokens", async || {
        for node in &nodes {
            let metrics = node.ops.get("/v1/admin/events/sale/metrics").await;
            if metrics.number("tokens_total") < 4 || metrics.number("last_number") < 20 {
                return None;
            }
        }
        Some(())
    })
    .await;
    let epoch = stores::redis_command(&url, &["HGET", "stanchion:{sale}:room", "epoch"]).await;
    let script = "for _, key in ipairs(redis.call('KEYS', 'stanchion:{sale}:*')) do redis.call('DEL', key) end \
                  for _, key in ipairs(redis.call('KEYS', 'replica:{sale}:*')) do \
                  redis.call('RENAME', key, string.sub(key, 16)) end return 1";
    stores::redis_command(&url, &["EVAL", script, "0"]).await;
    restored(&nodes, &epoch, &url).await;
    check_nothing_is_lost(&nodes, &people, &tokens).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_three_nodes_one_gone_the_others_go_on() {
    let redis = stores::redis_url().await;
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(RoomNode::start(&redis, &[]).await);
    }
    let (people, _) = sale(&nodes).await;
    let gone = nodes.pop().expect("three nodes");
    gone.abort();
    let third = people[2].at(&nodes[0]);
    assert_eq!(third.rejoin().await.expect(200).number("number"), people[2].number);
    let others: Vec<Person> = people
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 3 != 2)
        .map(|(_, person)| person.clone())
        .collect();
    wait::until("the cap to be full", async || {
        let through = everybody_claims(&others).await;
        let active = nodes[0].ops.get("/v1/admin/events/sale").await.number("active_sessions");
        assert!(active <= CAP, "{active} sessions under a cap of {CAP}");
        (active == CAP && through >= 1).then_some(())
    })
    .await;
}
