//! The checkout's ops listener.

use reqwest::Method;
use serde_json::{Value, json};
use tests::client::{Client, send};
use tests::gate::Gate;
use tests::ledger::Stock;
use tests::sale::{new_key, single};
use tests::wait;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_on_the_ops_listener_answers_without_its_token() {
    let node = single(&[]).await;
    node.on_sale("sale", 10).await;
    let anonymous = Client::new(node.ops.base().trim_start_matches("http://"));
    for client in [anonymous.clone(), anonymous.with_bearer("ops-token-of-the-testz")] {
        for path in ["", "/sale", "/sale/reconcile"] {
            let path = format!("/v1/admin/events{path}");
            client.get(&path).await.expect_problem(401, "invalid_token");
        }
        client.get("/metrics").await.expect_problem(401, "invalid_token");
        client.get("/nowhere").await.expect_problem(401, "invalid_token");
        let put = client.put("/v1/admin/events/new", &json!({})).await;
        put.expect_problem(401, "invalid_token");
    }
    assert_eq!(node.ledger.rows("events").await, 1);
    node.public.get("/v1/admin/events/sale").await.expect_problem(404, "not_found");
    let metrics = node.ops.get("/metrics").await.expect(200).text;
    assert!(metrics.contains("http_requests_total"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_created_changed_and_read() {
    let node = single(&[]).await;
    let sectors = json!([
        {"name": "Stalls", "capacity": 10, "price": 1_000},
        {"name": "Balcony", "capacity": 5, "price": 500},
    ]);
    let created = node.create("sale", &json!({"sectors": sectors})).await.expect(201);
    assert_eq!(created.json()["sectors"].as_array().map(Vec::len), Some(2));
    let changed = node.create("sale", &json!({"name": "Another", "max_per_user": 2})).await;
    let changed = changed.expect(200);
    assert_eq!((changed.str("name").as_str(), changed.number("max_per_user")), ("Another", 2));
    assert_eq!(changed.json()["sectors"], created.json()["sectors"], "sectors not listed stay");

    let price = json!({"sectors": [{"name": "Stalls", "price": 1_200}]});
    node.ops.patch("/v1/admin/events/sale", &price).await.expect(200);
    let read = node.ops.get("/v1/admin/events/sale").await.expect(200).json();
    let stalls = read["sectors"].as_array().into_iter().flatten().find(|s| s["name"] == "Stalls");
    let stalls = stalls.expect("the sector");
    assert_eq!((&stalls["price"], &stalls["capacity"]), (&json!(1_200), &json!(10)));
    assert_eq!(read["max_per_user"], json!(2));
    let list = node.ops.get("/v1/admin/events").await.expect(200).json();
    assert_eq!(list["events"][0]["event"], json!("sale"));
    node.ops.get("/v1/admin/events/none").await.expect_problem(404, "not_found");
    node.ops.get("/v1/admin/events/none/reconcile").await.expect_problem(404, "not_found");
    let unknown = node.ops.patch("/v1/admin/events/none", &json!({"name": "x"})).await;
    unknown.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capacity_is_raised_and_lowered_but_never_below_what_is_taken() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 5).await;
    let buyer = node.buyer("sale", "ada");
    let sold = buyer.reserve(&sector, 2, "sold").await.expect(201).str("id");
    buyer.confirm(&sold).await.expect(200);
    buyer.reserve(&sector, 2, "held").await.expect(201);
    let resize = async |capacity: i32| {
        let sectors = json!([{"sector_id": sector, "capacity": capacity}]);
        let settings = json!({"sectors": sectors, "name": format!("for {capacity}")});
        node.create("sale", &settings).await
    };
    resize(20).await.expect(200);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(20, 16, 2, 2));
    resize(4).await.expect(200);
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(4, 0, 2, 2));
    node.buyer("sale", "bob").reserve_one(&sector).await.expect_problem(409, "sold_out");

    resize(3).await.expect_problem(422, "invalid_quantity");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(4, 0, 2, 2));
    let read = node.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!(read.str("name"), "for 4", "a refused change changes nothing else");
    resize(-1).await.expect_problem(400, "invalid_request");
    node.assert_consistent("sale").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capacity_changed_in_the_rush_is_sold_exactly() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 50).await;
    let buyers = node.crowd("sale", 200);
    let rush = tests::sale::all_at_once(&buyers, |buyer| {
        let sector = sector.clone();
        async move { buyer.reserve_one(&sector).await }
    });
    let resize = async {
        for capacity in [60, 55, 70, 65, 80] {
            let sectors = json!([{"sector_id": sector, "capacity": capacity}]);
            let answer = node.create("sale", &json!({"sectors": sectors})).await;
            assert!(matches!(answer.status, 200 | 422), "{answer:?}");
        }
    };
    let (answers, ()) = tokio::join!(rush, resize);
    let sold = tests::sale::count(&answers, 201);
    assert_eq!(sold + tests::sale::count(&answers, 409), 200);
    let held = i32::try_from(sold).expect("few");
    assert_eq!(node.ledger.stock(&sector).await, Stock::of(80, 80 - held, held, 0));
    node.assert_consistent("sale").await;
}

/// Four of five places are wanted, and there are to be three: whoever comes to the stock first, wins.
#[tokio::test(flavor = "multi_thread")]
async fn a_capacity_lowered_at_the_moment_of_an_order_is_kept_to() {
    let node = single(&[]).await;
    for order_is_first in [true, false] {
        let event = if order_is_first { "order" } else { "operator" };
        let sector = node.on_sale(event, 5).await;
        let (buyer, ops) = (node.buyer(event, "ada"), node.ops.clone());
        let path = format!("/v1/admin/events/{event}");
        let three = json!({"sectors": [{"sector_id": sector, "capacity": 3}]});
        let gate = Gate::shut(&node.ledger, &sector).await;
        // Nobody waits at the stock for longer than a second, which is short on a busy machine: once more, then.
        let order = async {
            wait::until("an order's decision", async || {
                Some(buyer.reserve(&sector, 4, "key").await).filter(|answer| answer.status != 503)
            })
            .await
        };
        let lower = async {
            wait::until("an operator's decision", async || {
                Some(ops.patch(&path, &three).await).filter(|answer| answer.status != 503)
            })
            .await
        };
        let open = async {
            gate.until_waiting(2).await;
            gate.open().await;
        };
        // Who is first is begun first.
        let (order, lower, ()) = if order_is_first {
            tokio::join!(order, lower, open)
        } else {
            let (lower, order, ()) = tokio::join!(lower, order, open);
            (order, lower, ())
        };
        if order.status == 201 {
            lower.expect_problem(422, "invalid_quantity");
            assert_eq!(node.ledger.stock(&sector).await, Stock::of(5, 1, 4, 0));
        } else {
            lower.expect(200);
            order.expect_problem(409, "sold_out");
            assert_eq!(node.ledger.stock(&sector).await, Stock::of(3, 3, 0, 0));
        }
        node.assert_consistent(event).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_out_of_bounds_change_nothing() {
    let node = single(&[]).await;
    let sector = |change: Value| {
        let mut sector = json!({"name": "Stalls", "capacity": 1, "price": 1});
        for (name, value) in change.as_object().into_iter().flatten() {
            sector[name] = value.clone();
        }
        json!({"sectors": [sector]})
    };
    for settings in [
        json!({"name": ""}),
        json!({"max_per_user": 0}),
        json!({"max_quantity_per_request": -1}),
        json!({"hold_ttl_seconds": 0}),
        json!({"hold_ttl_seconds": "long"}),
        json!({"currency": "euro"}),
        json!({"surprise": true}),
        sector(json!({"capacity": -1})),
        sector(json!({"capacity": 1.5})),
        sector(json!({"price": -1})),
        sector(json!({"name": null})),
        sector(json!({"capacity": null})),
        sector(json!({"sector_id": "stalls"})),
        json!({"sectors": [{"name": "A", "capacity": 1}, {"name": "A", "capacity": 2}]}),
    ] {
        let answer = node.create("sale", &settings).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_request"), "{settings}");
    }
    let put = node.ops.request(Method::PUT, "/v1/admin/events/UPPER").json(&json!({}));
    send(put).await.expect_problem(400, "invalid_request");
    for table in ["events", "sectors", "sector_stock"] {
        assert_eq!(node.ledger.rows(table).await, 0, "{table}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sectors_are_public_and_may_be_cached_for_a_second() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let shown = json!([{
        "sector_id": sector, "name": sector, "price": 1_000, "currency": "EUR", "capacity": 10,
        "available": 10,
    }]);
    assert_eq!(json!(node.sectors("sale").await), shown);
    let anonymous = node.public.get("/v1/events/sale/sectors").await.expect(200);
    let admitted = node.buyer("sale", "ada").client.get("/v1/events/sale/sectors").await;
    assert_eq!(anonymous.text, admitted.expect(200).text);
    assert_eq!(anonymous.header("cache-control"), "public, max-age=1");
    node.public.get("/v1/events/none/sectors").await.expect_problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reconciliation_finds_what_does_not_add_up() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let buyer = node.buyer("sale", "ada");
    buyer.reserve(&sector, 2, &new_key()).await.expect(201);
    node.assert_consistent("sale").await;
    for (corruption, repair) in [
        ("UPDATE reservation_items SET quantity = 3", "UPDATE reservation_items SET quantity = 2"),
        (
            "UPDATE sector_stock SET held = held - 1, available = available + 1",
            "UPDATE sector_stock SET held = held + 1, available = available - 1",
        ),
        ("UPDATE reservations SET state = 'confirmed'", "UPDATE reservations SET state = 'held'"),
        ("UPDATE user_totals SET held = held + 1", "UPDATE user_totals SET held = held - 1"),
    ] {
        let write = async |sql: &'static str| {
            sqlx::query(sql).execute(node.ledger.pool()).await.expect("a row is changed");
        };
        write(corruption).await;
        assert_eq!(node.reconcile("sale").await["consistent"], json!(false), "{corruption}");
        write(repair).await;
        assert_eq!(node.reconcile("sale").await["consistent"], json!(true), "{repair}");
    }
}
