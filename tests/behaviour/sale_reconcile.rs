//! Damage is found, and with `--repair` set right, or left and said.

use std::process::Stdio;
use std::time::Duration;

use checkout::reconcile::Report;
use secrecy::SecretString;
use serde_json::json;
use sqlx::AssertSqlSafe;
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{CheckoutNode, new_key};
use tests::{programs, stores};

/// A sale of ten places: ada holds two, and bob owns one.
struct Sale {
    node: CheckoutNode,
    url: String,
    sector: String,
    held: String,
}

impl Sale {
    async fn new() -> Self {
        let (url, redis) = (stores::database_url().await, stores::redis_url().await);
        let node = CheckoutNode::start(&url, &redis, &[]).await;
        let sector = node.on_sale("sale", 10).await;
        let held = node.buyer("sale", "ada").reserve(&sector, 2, &new_key()).await;
        let held = held.expect(201).str("id");
        let bob = node.buyer("sale", "bob");
        bob.confirm(&bob.hold(&sector).await).await.expect(200);
        let sale = Self { node, url, sector, held };
        assert!(sale.look().await.consistent);
        sale
    }

    async fn write(&self, sql: &str) {
        let written = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.node.ledger.pool());
        assert!(written.await.expect("the damage is done").rows_affected() > 0, "{sql}");
    }

    async fn look(&self) -> Report {
        self.run(false).await
    }

    async fn repair(&self) -> Report {
        self.run(true).await
    }

    async fn run(&self, repair: bool) -> Report {
        let url = SecretString::from(self.url.clone());
        let event = "sale".parse().expect("an event");
        let reports = checkout::reconcile(&url, Some(event), repair).await;
        reports.expect("a report").remove(0)
    }

    /// The whole of it, as text.
    async fn rows(&self) -> Vec<String> {
        sqlx::query_scalar(
            "SELECT row::text FROM (
                SELECT to_jsonb(sector_stock) AS row FROM sector_stock
                UNION ALL SELECT to_jsonb(user_totals) FROM user_totals
                UNION ALL SELECT to_jsonb(reservations) FROM reservations
                UNION ALL SELECT to_jsonb(reservation_items) FROM reservation_items
                UNION ALL SELECT to_jsonb(reservation_events) FROM reservation_events
             ) AS rows ORDER BY 1",
        )
        .fetch_all(self.node.ledger.pool())
        .await
        .expect("the rows are read")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_counters_and_a_gap_in_the_outbox_are_found_and_set_right() {
    let sale = Sale::new().await;
    let right = sale.rows().await;
    for damage in [
        "UPDATE sector_stock SET held = held - 1, available = available + 1",
        "UPDATE sector_stock SET confirmed = confirmed + 3, available = available - 3",
        "UPDATE sector_stock SET held = 0, confirmed = 0, available = capacity",
        "UPDATE user_totals SET held = held + 1",
        "UPDATE user_totals SET confirmed = 0, held = 0 WHERE sub = 'bob'",
        "DELETE FROM user_totals WHERE sub = 'ada'",
        "DELETE FROM user_totals; UPDATE sector_stock SET held = 0, available = available + held",
    ] {
        sale.write(damage).await;
        let damaged = sale.rows().await;
        assert!(!sale.look().await.consistent, "{damage}");
        assert_eq!(sale.node.reconcile("sale").await["consistent"], json!(false), "{damage}");
        assert_eq!(sale.rows().await, damaged, "a look changes nothing");
        let report = sale.repair().await;
        assert!(report.consistent, "{damage}: {report:?}");
        assert_eq!(sale.rows().await, right, "{damage}");
    }

    sale.write("DELETE FROM reservation_events").await;
    let report = sale.look().await;
    let mut untold: Vec<_> =
        report.untold.iter().map(|untold| (untold.state.as_str(), untold.version)).collect();
    untold.sort_unstable();
    assert_eq!(untold, [("confirmed", 2), ("held", 1)]);
    let repair = sale.repair().await;
    assert_eq!(repair.repair.expect("a repair").told, 2);
    assert!(sale.look().await.consistent);
    let added: Vec<(String, i32, bool)> = sqlx::query_as(
        "SELECT kind, version, due_at IS NOT NULL FROM reservation_events ORDER BY kind",
    )
    .fetch_all(sale.node.ledger.pool())
    .await
    .expect("the outbox");
    assert_eq!(added, [("confirmed".to_owned(), 2, true), ("held".to_owned(), 1, true)]);
    sale.node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_rows_are_damaged_themselves_no_place_is_put_on_sale_by_them() {
    for damage in [
        "DELETE FROM reservations WHERE sub = 'bob'",
        "DELETE FROM reservation_items WHERE quantity = 2",
        "UPDATE reservation_items SET quantity = quantity + 1 WHERE quantity = 2",
        "UPDATE reservations SET total = total + 1",
    ] {
        let sale = Sale::new().await;
        sale.write(damage).await;
        let damaged = sale.rows().await;
        let found = sale.look().await;
        let kinds = found.orphan_items.len() + found.reservations_differing.len();
        assert!(!found.consistent && kinds > 0, "{damage}: {found:?}");
        let report = sale.repair().await;
        assert!(!report.consistent, "{damage}");
        let repair = report.repair.expect("a repair");
        assert!(repair.left[0].starts_with("all counters"), "{repair:?}");
        assert_eq!(sale.rows().await, damaged, "{damage}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_sold_than_there_is_is_said_and_left() {
    let sale = Sale::new().await;
    sale.write(
        "INSERT INTO reservations (event_id, reservation_id, sub, state, quantity, total, currency,
            created_at, expires_at, changed_at)
         SELECT event_id, '00000000-0000-7000-8000-000000000001', 'eve', 'confirmed', 20, 0, 'EUR',
            now(), now() + '1 minute', now() FROM events;
         INSERT INTO reservation_items (event_id, reservation_id, sector_id, quantity, price)
         SELECT event_id, '00000000-0000-7000-8000-000000000001', sector_id, 20, 0 FROM sectors;
         INSERT INTO reservation_events (event_id, kind, reservation_id, version)
         SELECT event_id, 'confirmed', '00000000-0000-7000-8000-000000000001', 1 FROM events;
         UPDATE sector_stock SET held = held - 1, available = available + 1",
    )
    .await;
    let report = sale.repair().await;
    assert!(!report.consistent);
    let repair = report.repair.expect("a repair");
    assert_eq!((repair.sectors.len(), repair.users), (0, 1), "eve's total can be set right");
    assert!(repair.left[0].contains("23 places are held and sold, of 10"), "{repair:?}");
    assert_eq!(sale.node.ledger.stock(&sale.sector).await, Stock::of(10, 8, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_overdue_hold_is_told_and_is_no_difference() {
    let (url, redis) = (stores::database_url().await, stores::redis_url().await);
    let node = CheckoutNode::start(&url, &redis, &["--sweep-interval-ms", "3600000"]).await;
    let sector = node.on_sale("sale", 10).await;
    let id = node.buyer("sale", "ada").hold(&sector).await;
    node.ledger.expire_after(&id, Duration::ZERO).await;
    let report = node.reconcile("sale").await;
    assert_eq!((&report["overdue_holds"], &report["consistent"]), (&json!(1), &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_a_total_is_not_given_one_and_stops_nobody_elses_hold_from_ending() {
    let sale = Sale::new().await;
    let others = sale.node.buyer("sale", "eve").hold(&sale.sector).await;
    sale.write("DELETE FROM user_totals WHERE sub = 'ada'").await;
    for id in [&sale.held, &others] {
        sale.node.ledger.expire_after(id, Duration::ZERO).await;
    }
    sale.node.ledger.becomes(&others, "expired").await;
    assert_eq!(sale.node.ledger.state(&sale.held).await, "held");
    assert_eq!(sale.node.ledger.rows("user_totals").await, 2, "bob's and eve's");
}

/// A reservation has written its rows and waits for the stock, and so does the repair. Whoever comes
/// first, what is counted and what is set belong together.
#[tokio::test(flavor = "multi_thread")]
async fn a_repair_during_the_sale_counts_what_was_on_its_way() {
    for damage in [
        "UPDATE sector_stock SET held = held - 1, available = available + 1",
        "UPDATE user_totals SET held = held + 1",
        "UPDATE sector_stock SET held = 0, available = available + held; DELETE FROM user_totals",
    ] {
        let sale = Sale::new().await;
        sale.write(damage).await;
        let gate = Gate::shut(&sale.node.ledger, &sale.sector).await;
        let (ada, sector) = (sale.node.buyer("sale", "ada"), sale.sector.clone());
        let order = tokio::spawn(async move { ada.reserve_one(&sector).await });
        gate.until_waiting(1).await;
        let (report, ()) = tokio::join!(sale.repair(), async {
            gate.until_waiting(2).await;
            gate.open().await;
        });
        order.await.expect("no panic").expect(201);
        assert!(report.consistent, "{damage}: {report:?}");
        sale.node.assert_consistent("sale").await;
        assert_eq!(sale.node.ledger.stock(&sale.sector).await, Stock::of(10, 6, 3, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_fails_on_a_difference_and_succeeds_when_it_is_set_right() {
    let sale = Sale::new().await;
    let run = async |arguments: &[&str]| {
        let mut command = tokio::process::Command::new(programs::checkout());
        command.arg("reconcile").args(arguments).env("STANCHION_DATABASE_URL", &sale.url);
        let output = command.stdin(Stdio::null()).output().await.expect("the command runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text)
    };
    assert_eq!(run(&[]).await.0, Some(0));
    sale.write("UPDATE sector_stock SET held = held - 1, available = available + 1").await;
    let (code, text) = run(&["--event", "sale"]).await;
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains(&sale.sector), "{text}");
    let (code, text) = run(&["--event", "sale", "--repair"]).await;
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(run(&[]).await.0, Some(0));
    assert_eq!(sale.node.ledger.state(&sale.held).await, "held");
}
