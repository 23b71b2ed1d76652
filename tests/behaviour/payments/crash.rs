//! The checkout is killed in the middle of a payment.

use serde_json::json;
use tests::ledger::{Ledger, Stock};
use tests::proxy::Proxy;
use tests::sale::{CheckoutProcess, new_key};
use tests::sandbox::{KEY, SECRET, Sandbox};
use tests::{stores, wait};

struct World {
    sandbox: Sandbox,
    ledger: Ledger,
    database: String,
    redis: String,
}

impl World {
    async fn new() -> Self {
        let (database, redis) = (stores::database_url().await, stores::redis_url().await);
        let sandbox = Sandbox::start().await;
        sandbox.switch(json!({ "webhooks": false })).await;
        Self { sandbox, ledger: Ledger::open(&database), database, redis }
    }

    async fn checkout(&self, database: &str) -> CheckoutProcess {
        let env = [
            ("STANCHION_SANDBOX_URL", self.sandbox.url()),
            ("STANCHION_SANDBOX_KEY", KEY),
            ("STANCHION_SANDBOX_WEBHOOK_SECRETS", SECRET),
            ("STANCHION_PAYMENT_CHECK_INTERVAL_MS", "50"),
            ("STANCHION_PAYMENT_TIMEOUT_MS", "5000"),
            ("STANCHION_USER_RATE_PER_SECOND", "0"),
        ];
        CheckoutProcess::start(database, &self.redis, &env).await
    }

    async fn on_sale(&self, checkout: &CheckoutProcess) -> String {
        let sector = new_key();
        let sale = json!({
            "hold_ttl_seconds": 300,
            "sectors": [{"sector_id": sector, "name": "Stalls", "capacity": 10, "price": 1_000}],
        });
        checkout.ops.put("/v1/admin/events/sale", &sale).await.expect(201);
        sector
    }

    /// Another process finds one charge, and one confirmed reservation for it.
    async fn ends_well(&self, sector: &str, id: &str) {
        let checkout = self.checkout(&self.database).await;
        let ada = checkout.buyer_at("sale", "ada", 0);
        ada.payment_becomes(id, "paid").await;
        // Whoever did not hear the answer asks again, and pays nothing more.
        ada.pay_with(id, "pm_good", "pay").await.expect(200);
        let charges = self.sandbox.entries().await;
        assert_eq!(charges.len(), 1, "{charges:?}");
        assert_eq!(self.ledger.stock(sector).await, Stock::of(10, 9, 0, 1));
        self.ledger.assert_balanced("sale").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_between_reserve_and_pay_has_lost_nothing() {
    let world = World::new().await;
    let checkout = world.checkout(&world.database).await;
    let sector = world.on_sale(&checkout).await;
    let id = checkout.buyer_at("sale", "ada", 0).hold(&sector).await;
    checkout.service.kill().await.expect("the checkout is killed");

    let checkout = world.checkout(&world.database).await;
    let ada = checkout.buyer_at("sale", "ada", 0);
    ada.pay_with(&id, "pm_good", "pay").await.expect(200);
    checkout.service.kill().await.expect("the checkout is killed");
    world.ends_well(&sector, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_before_the_provider_was_asked_asks_it_later() {
    let world = World::new().await;
    let proxy = Proxy::to(&world.database).await;
    let checkout = world.checkout(&proxy.url(&world.database)).await;
    let sector = world.on_sale(&checkout).await;
    let ada = checkout.buyer_at("sale", "ada", 0);
    let id = ada.hold(&sector).await;
    // The charge is committed, and the process never hears of it.
    proxy.keep_answers_to_commits();
    let request = tokio::spawn(ada.pay_request(&id, "sandbox", "pm_good", "pay").send());
    wait::until("the charge", async || (world.ledger.rows("payments").await == 1).then_some(()))
        .await;
    checkout.service.kill().await.expect("the checkout is killed");
    assert!(request.await.expect("no panic").is_err(), "nobody heard an answer");
    assert!(world.sandbox.entries().await.len() <= 1);
    world.ends_well(&sector, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_killed_after_the_provider_has_charged_finds_the_charge() {
    let world = World::new().await;
    let checkout = world.checkout(&world.database).await;
    let sector = world.on_sale(&checkout).await;
    let ada = checkout.buyer_at("sale", "ada", 0);
    let id = ada.hold(&sector).await;
    world.sandbox.switch(json!({ "timeout_after_success": 1 })).await;
    let request = tokio::spawn(ada.pay_request(&id, "sandbox", "pm_good", "pay").send());
    wait::until("the charge at the provider", async || {
        (world.sandbox.done("charge", "succeeded").await.len() == 1).then_some(())
    })
    .await;
    checkout.service.kill().await.expect("the checkout is killed");
    assert!(request.await.expect("no panic").is_err(), "nobody heard an answer");
    assert_eq!(world.ledger.state(&id).await, "held", "what was charged is not written down");
    world.ends_well(&sector, &id).await;
    assert_eq!(world.sandbox.entries().await[0].orders, 1, "it was found, and not ordered again");
}
