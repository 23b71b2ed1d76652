//! The shop knows its messages by their signatures, while a secret is being changed too.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sqlx::PgPool;
use tests::sale::single;
use tests::shop::{SECRET, Shop};

const OTHER: &str = "whsec_YW5vdGhlci10ZXN0cy13ZWJob29rLXNlY3JldC0y";

/// HMAC-SHA-256 by its definition (RFC 2104), with Postgres' SHA-256: nothing of the checkout's.
async fn signature(pool: &PgPool, secret: &str, message: &str) -> String {
    let secret = secret.strip_prefix("whsec_").expect("a secret");
    let mut key = STANDARD.decode(secret).expect("base64");
    key.resize(64, 0);
    let padded = |pad: u8| key.iter().map(|byte| byte ^ pad).collect::<Vec<u8>>();
    let code: Vec<u8> = sqlx::query_scalar("SELECT sha256($1 || sha256($2 || $3))")
        .bind(padded(0x5c))
        .bind(padded(0x36))
        .bind(message.as_bytes())
        .fetch_one(pool)
        .await
        .expect("a digest");
    format!("v1,{}", STANDARD.encode(code))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_signed_with_each_secret_while_they_are_changed() {
    let shop = Shop::open().await;
    let both = format!("{OTHER},{SECRET}");
    let flags = ["--shop-webhook-url", shop.url(), "--shop-webhook-secrets", &both];
    let node = single(&flags).await;
    let sector = node.on_sale("sale", 10).await;
    node.buyer("sale", "ada").hold(&sector).await;
    let taken = shop.until_taken(1).await.remove(0);
    let (id, timestamp) = (taken.header("webhook-id"), taken.header("webhook-timestamp"));
    let message = format!("{id}.{timestamp}.{}", taken.text);
    let pool = node.ledger.pool();
    let by_each =
        [signature(pool, OTHER, &message).await, signature(pool, SECRET, &message).await].join(" ");
    assert_eq!(taken.header("webhook-signature"), by_each);
    assert_eq!(taken.header("content-type"), "application/json");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let sent: u64 = timestamp.parse().expect("seconds");
    assert!(now.abs_diff(sent) < 300, "the standard's libraries would refuse it");
    let forged = format!("{id}.{timestamp}.{} ", taken.text);
    assert_ne!(signature(pool, SECRET, &forged).await, signature(pool, SECRET, &message).await);
}
