//! The demo shop in front of services under test, as `deploy/local.sh` puts it there.

use local::shop::{Addresses, Closed, Restart, Shop, ShopOptions};
use local::stores::Redis;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::browser::Browser;
use crate::client::Client;
use crate::keys::OPS_TOKEN;
use crate::room::{Person, RoomNode};
use crate::sale::{CheckoutNode, CheckoutProcess};
use crate::sandbox::{self, Sandbox};
use crate::{stores, wait};

/// The event on sale.
pub const EVENT: &str = "demo";
/// The waiting page's button that leads on to the shop.
pub const ENTER: &str = "#enter";

/// A waiting room, a sandbox provider, a checkout that pays with it, and the shop.
pub struct Demo<C = CheckoutNode> {
    /// The waiting room.
    pub room: RoomNode,
    /// The checkout.
    pub checkout: C,
    /// The provider.
    pub sandbox: Sandbox,
    /// The shop.
    pub shop: Shop,
}

impl Demo {
    /// All of it, with these flags for the checkout and these settings of its event.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(flags: &[&str], sale: &Value) -> Self {
        let closed = Closed::bind(0).await.expect("loopback has free ports");
        let redis = stores::redis_url().await;
        let (sandbox, room) = (Sandbox::start().await, room(&redis, closed.url()).await);
        let mut line = sandbox::flags(&sandbox);
        line.extend(["--cors-origins", closed.url()].map(str::to_owned));
        let mut line: Vec<&str> = line.iter().map(String::as_str).collect();
        line.extend(flags);
        let checkout = CheckoutNode::start(&stores::database_url().await, &redis, &line).await;
        let addresses = (&checkout.public, &checkout.ops);
        let shop = open(closed, &room, addresses, &sandbox, None).await;
        let demo = Self { room, checkout, sandbox, shop };
        demo.on_sale(sale).await;
        demo
    }

    async fn on_sale(&self, sale: &Value) {
        let mut event = json!({ "sectors": [
            { "name": "Standing", "capacity": 100, "price": 4_500 },
            { "name": "Front row", "capacity": 1, "price": 19_900 },
        ] });
        for (name, value) in sale.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.checkout.create(EVENT, &event).await.expect(201);
        let settings = json!({ "name": "Night at the harbour", "checkout_url": self.shop.url() });
        self.room.create(EVENT, &settings).await.expect(201);
        self.room.knows(EVENT).await;
        wait::until("the checkout to show the event", async || {
            let sectors = self.checkout.public.get("/v1/events/demo/sectors").await;
            (sectors.status == 200).then_some(())
        })
        .await;
    }

    /// Somebody who has been let in, without a browser; gives the token.
    pub async fn admitted(&self) -> (Person, String) {
        let person = self.room.join(EVENT).await;
        let token = person.admitted().await;
        (person, token)
    }

    /// Somebody who has just been let in opens the shop, as the waiting page would have it.
    pub async fn enters(&self, browser: &Browser) {
        let (_, token) = self.admitted().await;
        browser.goto(&format!("{}/#token={token}", self.shop.url())).await;
        browser.find("#sector-list .sector").await;
    }
}

impl Demo<CheckoutProcess> {
    /// The same with a checkout in a process of its own, and a Redis of its own; both can be killed from the
    /// shop.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn with_processes() -> (Self, Restarter) {
        let closed = Closed::bind(0).await.expect("loopback has free ports");
        let redis = stores::own_redis(&stores::scratch()).await;
        let url = redis.url();
        let (sandbox, room) = (Sandbox::start().await, room(&url, closed.url()).await);
        let env = [
            ("STANCHION_CORS_ORIGINS", closed.url()),
            ("STANCHION_SANDBOX_URL", sandbox.url()),
            ("STANCHION_SANDBOX_KEY", sandbox::KEY),
            ("STANCHION_SANDBOX_WEBHOOK_SECRETS", sandbox::SECRET),
        ];
        let checkout = CheckoutProcess::start(&stores::database_url().await, &url, &env).await;
        let (orders, restarts) = mpsc::channel(1);
        let addresses = (&checkout.public, &checkout.ops);
        let shop = open(closed, &room, addresses, &sandbox, Some(orders)).await;
        (Self { room, checkout, sandbox, shop }, Restarter { redis, restarts })
    }

    /// Does what the shop wants restarted, for as long as it is there.
    ///
    /// # Panics
    /// When something does not start again.
    pub async fn restart_on_demand(&mut self, restarter: &mut Restarter) {
        use local::shop::Restarted;
        while let Some(Restart { what, done }) = restarter.restarts.recv().await {
            match what {
                Restarted::Checkout => {
                    self.checkout.service.kill().await.expect("it dies");
                    self.checkout.service.restart().await.expect("it starts again");
                }
                Restarted::Redis => {
                    restarter.redis.kill().await.expect("it dies");
                    restarter.redis.restart().await.expect("it starts again");
                }
            }
            // The page may have been left.
            let _ = done.send(Ok(()));
        }
    }
}

/// What can be killed besides the checkout, and who wants it.
pub struct Restarter {
    redis: Redis,
    restarts: mpsc::Receiver<Restart>,
}

async fn room(redis: &str, shop: &str) -> RoomNode {
    RoomNode::start(redis, &["--cors-origins", shop, "--join-limit-per-minute", "0"]).await
}

async fn open(
    closed: Closed,
    room: &RoomNode,
    (public, ops): (&Client, &Client),
    sandbox: &Sandbox,
    restarts: Option<mpsc::Sender<Restart>>,
) -> Shop {
    sandbox.tell(public).await;
    let addresses = |public: &Client, ops: &Client| Addresses {
        url: public.base().to_owned(),
        ops_url: ops.base().to_owned(),
    };
    let shop = closed.open(ShopOptions {
        event: EVENT.to_owned(),
        waiting_room: addresses(&room.public, &room.ops),
        checkout: addresses(public, ops),
        ops_token: OPS_TOKEN.to_owned(),
        sandbox_url: sandbox.url().to_owned(),
        sandbox_key: sandbox::KEY.to_owned(),
        restarts,
    });
    shop.expect("the shop opens")
}
