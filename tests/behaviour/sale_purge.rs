//! Answers are forgotten after their retention, and a retry that comes at that very moment is safe.

use std::collections::HashSet;

use checkout::store::idempotency::purge;
use futures::future::join_all;
use serde_json::json;
use tests::gate::Gate;
use tests::ledger::Ledger;
use tests::sale::{new_key, pair};

const RETENTION_SECONDS: u32 = 86_400;

async fn age_all(ledger: &Ledger) {
    sqlx::query("UPDATE idempotency_keys SET decided_at = now() - interval '2 days'")
        .execute(ledger.pool())
        .await
        .expect("the records are old");
}

async fn purge_now(ledger: &Ledger) -> u64 {
    let mut connection = ledger.pool().acquire().await.expect("a connection");
    let event = "sale".parse().expect("an event");
    purge(&mut connection, &event, RETENTION_SECONDS, 500).await.expect("a purge")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purge_that_meets_a_retry_leaves_one_outcome() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let settings = json!({"max_per_user": 10_000});
    let sector = one.on_sale_with("sale", &settings, &[10_000]).await.remove(0);
    let ada = one.buyer("sale", "ada");
    let elsewhere = ada.at(&two);
    let (mut replayed, mut anew) = (0, 0);
    for _ in 0..40 {
        let key = new_key();
        let first = ada.reserve(&sector, 1, &key).await.expect(201).str("id");
        age_all(&one.ledger).await;
        let retries = (0..6).map(|n| [&ada, &elsewhere][n % 2].reserve(&sector, 1, &key));
        let (_, answers) = tokio::join!(purge_now(&one.ledger), join_all(retries));
        for answer in &answers {
            assert!(matches!(answer.status, 200 | 201), "{answer:?}");
        }
        let ids: HashSet<String> = answers.iter().map(|answer| answer.str("id")).collect();
        let new: Vec<&String> = ids.iter().filter(|id| **id != first).collect();
        assert!(new.len() <= 1, "one key has the outcomes {new:?} at once");
        replayed += usize::from(new.is_empty());
        anew += new.len();
    }
    assert!(replayed + anew == 40);
    let rows = one.ledger.rows("reservations").await;
    assert_eq!(rows, 40 + i64::try_from(anew).expect("few"));
    one.assert_consistent("sale").await;
}

/// First the purge is stopped between its write and its commit, then two retries that have seen nothing
/// on record any more.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "nobody drops this future in its transaction")]
async fn a_retry_gets_the_old_outcome_until_the_purge_commits_and_one_new_one_after_that() {
    let (one, two) = pair(&["--sector-lease", "off"]).await;
    let sector = one.on_sale("sale", 10).await;
    let ada = one.buyer("sale", "ada");
    let elsewhere = ada.at(&two);
    let first = ada.reserve(&sector, 1, "key").await.expect(201);
    age_all(&one.ledger).await;
    let mut purging = one.ledger.pool().begin().await.expect("a transaction");
    let event = "sale".parse().expect("an event");
    let purged = purge(&mut purging, &event, RETENTION_SECONDS, 500).await.expect("a purge");
    assert_eq!(purged, 1);
    for buyer in [&ada, &elsewhere] {
        assert_eq!(buyer.reserve(&sector, 1, "key").await.expect(200).text, first.text);
    }
    purging.commit().await.expect("a commit");

    let her_total = "SELECT FROM user_totals WHERE sub = 'ada' FOR UPDATE";
    let gate = Gate::at(&one.ledger, her_total).await;
    let open = async {
        gate.until_waiting(2).await;
        gate.open().await;
    };
    let retries = (ada.reserve(&sector, 1, "key"), elsewhere.reserve(&sector, 1, "key"));
    let (here, there, ()) = tokio::join!(retries.0, retries.1, open);
    assert_eq!(here.text, there.text, "one key has two outcomes");
    assert_ne!(here.text, first.text);
    let mut statuses = [here.status, there.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 201]);
    assert_eq!(one.ledger.rows("reservations").await, 2);
    one.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_within_its_retention_is_kept() {
    let (one, _two) = pair(&[]).await;
    let sector = one.on_sale("sale", 10).await;
    let ada = one.buyer("sale", "ada");
    let first = ada.reserve(&sector, 1, "key").await.expect(201);
    assert_eq!(purge_now(&one.ledger).await, 0);
    assert_eq!(ada.reserve(&sector, 1, "key").await.expect(200).text, first.text);
    age_all(&one.ledger).await;
    assert_eq!(purge_now(&one.ledger).await, 1);
    assert_ne!(ada.reserve(&sector, 1, "key").await.expect(201).text, first.text);
}
