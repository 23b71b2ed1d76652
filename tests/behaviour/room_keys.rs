//! Keys of the waiting room: rotation throws nobody out.

use std::path::Path;

use local::leash::Signal;
use local::service::{Service, ServiceOptions};
use serde_json::json;
use shared::admission::SigningKey;
use tests::client::Client;
use tests::room::Person;
use tests::{keys, programs, stores, wait};

/// The waiting room's own binary, with its keys in a directory.
async fn start(redis: &str, directory: &Path, env: &[(&str, &str)]) -> (Service, Client, Client) {
    let (public, ops) = (programs::address(), programs::address());
    let (current, next) = (directory.join("current.pem"), directory.join("next.pem"));
    let mut options = ServiceOptions::new(
        "waiting-room",
        programs::waiting_room(),
        format!("http://{public}"),
        directory.join("waiting-room.log"),
    )
    .arg("serve")
    .env("STANCHION_REDIS_URL", redis)
    .env("STANCHION_LISTEN", public.to_string())
    .env("STANCHION_OPS_LISTEN", ops.to_string())
    .env("STANCHION_OPS_TOKEN", keys::OPS_TOKEN)
    .env("STANCHION_TICKET_KEY", keys::TICKET_KEY)
    .env("STANCHION_ADMISSION_KEY_FILE", current.display().to_string())
    .env("STANCHION_ADMISSION_NEXT_KEY_FILE", next.display().to_string());
    for (name, value) in env {
        options = options.env(*name, *value);
    }
    let service = Service::start(options).await.expect("the waiting room starts");
    (service, Client::new(public), Client::new(ops).with_bearer(keys::OPS_TOKEN))
}

fn write_key(path: &Path) -> SigningKey {
    let pem = SigningKey::generate_pem().expect("a key is made");
    std::fs::write(path, &pem).expect("the temporary directory is writable");
    SigningKey::from_pem(&pem).expect("the key just made is read")
}

async fn join(public: &Client) -> Person {
    let joined = public.post("/v1/events/sale/queue").await.expect(201);
    let ticket = joined.str("ticket");
    let (client, number) = (public.with_bearer(&ticket), joined.number("number"));
    Person { client, event: "sale".to_owned(), number, ticket }
}

fn kid(token: &str) -> String {
    jsonwebtoken::decode_header(token).expect("a token").kid.expect("it names its key")
}

#[tokio::test(flavor = "multi_thread")]
async fn rotation_by_sighup_throws_nobody_out() {
    let (redis, directory) = (stores::redis_url().await, stores::scratch());
    let (old, next) =
        (write_key(&directory.join("current.pem")), write_key(&directory.join("next.pem")));
    let (service, public, ops) = start(&redis, &directory, &[]).await;
    let settings = json!({"name": "A", "checkout_url": "https://shop.example/"});
    ops.put("/v1/admin/events/sale", &settings).await.expect(201);
    let before = join(&public).await;
    let token = before.admitted().await;
    assert_eq!(kid(&token), old.kid());

    std::fs::rename(directory.join("next.pem"), directory.join("current.pem")).expect("moved");
    let after_next = write_key(&directory.join("next.pem"));
    programs::signal(&service, Signal::HUP);
    wait::until("the new key to be published", async || {
        let jwks = public.get("/.well-known/jwks.json").await.text;
        jwks.contains(after_next.kid()).then_some(())
    })
    .await;
    let jwks = public.get("/.well-known/jwks.json").await.text;
    assert!(jwks.contains(old.kid()), "the old key still verifies: {jwks}");
    // His token is repeated to the byte; new ones come from the next key.
    assert_eq!(before.admitted().await, token);
    assert_eq!(kid(&join(&public).await.admitted().await), next.kid());

    // A file that is no key changes nothing.
    std::fs::write(directory.join("current.pem"), "nonsense").expect("written");
    programs::signal(&service, Signal::HUP);
    wait::until("the refusal to be logged", async || {
        service.log_tail().contains("admission keys kept").then_some(())
    })
    .await;
    assert_eq!(kid(&join(&public).await.admitted().await), next.kid());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_node_wrong_by_an_hour_changes_nothing() {
    let (redis, directory) = (stores::redis_url().await, stores::scratch());
    write_key(&directory.join("current.pem"));
    write_key(&directory.join("next.pem"));
    let library = programs::faketime();
    let env = [("LD_PRELOAD", library.as_str()), ("FAKETIME", "+1h")];
    let (_wrong, public, ops) = start(&redis, &directory, &env).await;
    let right = tests::room::RoomNode::start(&redis, &[]).await;
    let settings = json!({
        "name": "A", "checkout_url": "https://shop.example/", "queueing_method": "fifo",
        "max_active_sessions": 1, "session_duration_seconds": 600, "claim_window_seconds": 600,
    });
    ops.put("/v1/admin/events/sale", &settings).await.expect(201);
    right.knows("sale").await;
    let (first, second) = (join(&public).await, right.join("sale").await);
    let token = first.admitted().await;
    let claims: shared::admission::AdmissionClaims =
        jsonwebtoken::dangerous::insecure_decode(&token).expect("a token of ours").claims;
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    assert!(claims.iat.abs_diff(now.as_secs()) < 600, "issued by the node's clock: {claims:?}");
    // The session of an hour ago has not ended for the node that is an hour ahead.
    join(&public).await;
    wait::until("both nodes to have looked again", async || {
        let seen = async |client: &Client| {
            client.get("/v1/events/sale/status").await.number("last_number")
        };
        (seen(&public).await == 3 && seen(&right.public).await == 3).then_some(())
    })
    .await;
    second.at_client(&public).claim().await.expect_problem(409, "not_ready");
    second.claim().await.expect_problem(409, "not_ready");
}
