//! Nobody buys without a valid admission to that event, and who has none does not reach Postgres.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};
use shared::admission::{AdmissionClaims, Issuer, LEEWAY_SECONDS, SigningKey};
use tests::client::send;
use tests::keys::{ISSUER, RESERVATION_KEY, TICKET_KEY, admission};
use tests::sale::{CheckoutNode, claims, new_key, sign, single};

/// A node that does nothing by itself, so that whatever reaches Postgres is a request's doing.
async fn quiet() -> CheckoutNode {
    single(&["--sweep-interval-ms", "3600000"]).await
}

fn changed(change: impl Fn(&mut AdmissionClaims)) -> String {
    let mut claims = claims("sale", "mallory");
    change(&mut claims);
    sign(&claims)
}

fn hs256(header: &Header, claims: &impl serde::Serialize, secret: &[u8]) -> String {
    let key = EncodingKey::from_secret(secret).expect("a secret of any length");
    encode(header, claims, &key).expect("claims are signed")
}

/// Signed by somebody else's key, under the name of ours or of their own.
fn foreign(named_as_ours: bool) -> String {
    let pem = SigningKey::generate_pem().expect("a key is made");
    let claims = claims("sale", "mallory");
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(if named_as_ours {
        admission().issuer.current_kid().to_owned()
    } else {
        SigningKey::from_pem(&pem).expect("the key just made").kid().to_owned()
    });
    let key = EncodingKey::from_ed_pem(pem.as_bytes()).expect("the key just made");
    encode(&header, &claims, &key).expect("claims are signed")
}

/// Our public key is no secret: HS256 with it as the secret must not pass.
fn signed_with_the_public_key() -> Vec<String> {
    let issuer = &admission().issuer;
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(issuer.current_kid().to_owned());
    let jwk = serde_json::to_value(&issuer.jwks().keys[0]).expect("a key is JSON");
    let x = jwk["x"].as_str().expect("the public key");
    let bytes = URL_SAFE_NO_PAD.decode(x).expect("base64");
    let claims = claims("sale", "mallory");
    [bytes.as_slice(), x.as_bytes(), jwk.to_string().as_bytes()]
        .map(|secret| hs256(&header, &claims, secret))
        .to_vec()
}

fn unsigned(alg: &str, signature: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = json!({"alg": alg, "typ": "JWT", "kid": admission().issuer.current_kid()});
    let claims = serde_json::to_value(claims("sale", "mallory")).expect("claims are JSON");
    format!("{}.{}.{signature}", part(&header), part(&claims))
}

/// A valid token whose payload says something else.
fn tampered(field: &str, value: &Value) -> String {
    let token = sign(&claims("sale", "ada"));
    let parts: Vec<&str> = token.split('.').collect();
    let payload = URL_SAFE_NO_PAD.decode(parts[1]).expect("base64");
    let mut payload: Value = serde_json::from_slice(&payload).expect("claims are JSON");
    payload[field] = value.clone();
    format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(payload.to_string()), parts[2])
}

fn queue_ticket() -> String {
    let claims = claims("sale", "mallory");
    let ticket = json!({
        "event": "sale", "number": 1, "sub": "mallory", "iat": claims.iat, "epoch": 1,
        "iss": claims.iss, "aud": claims.aud, "nbf": claims.nbf, "exp": claims.exp,
        "jti": claims.jti,
    });
    let mut header = Header::new(Algorithm::HS256);
    header.typ = Some("queue-ticket".to_owned());
    hs256(&header, &ticket, &hex_bytes(TICKET_KEY))
}

/// What claims to be a reservation's token, and is not for reserving anyway.
fn reservation_token() -> String {
    let now = claims("sale", "mallory").iat;
    let body = json!({
        "event": "sale", "sub": "mallory", "rid": new_key(), "iat": now, "exp": now + 600,
    });
    let mut header = Header::new(Algorithm::HS256);
    header.typ = Some("reservation-token".to_owned());
    hs256(&header, &body, &hex_bytes(RESERVATION_KEY))
}

fn hex_bytes(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex digits"))
        .collect()
}

/// Everything that looks like an admission token for `sale` and is none.
pub(crate) fn refused_tokens() -> Vec<(&'static str, String)> {
    let valid = sign(&claims("sale", "mallory"));
    let other_issuer = {
        let pem = SigningKey::from_pem(&admission().current_pem).expect("our key");
        let issuer = Issuer::new("somebody-else", pem, None);
        let mut claims = claims("sale", "mallory");
        claims.iss = "somebody-else".to_owned();
        issuer.sign(&claims, issuer.current_kid()).expect("claims are signed")
    };
    let past = LEEWAY_SECONDS + 10;
    let mut tokens = vec![
        ("expired", changed(|claims| claims.exp = claims.iat - past)),
        ("not yet valid", changed(|claims| claims.nbf = claims.iat + past)),
        ("issued in the future", changed(|claims| claims.iat += past)),
        ("wrong audience", changed(|claims| claims.aud = "waiting-room".to_owned())),
        ("wrong issuer", other_issuer),
        ("almost our issuer", changed(|claims| claims.iss = format!("{ISSUER}x"))),
        ("unknown kid", foreign(false)),
        ("another key under our kid", foreign(true)),
        ("alg none", unsigned("none", "")),
        ("alg None", unsigned("None", "")),
        ("no signature", unsigned("EdDSA", "")),
        ("tampered sub", tampered("sub", &json!("bob"))),
        ("tampered event", tampered("event", &json!("other"))),
        ("tampered exp", tampered("exp", &json!(99_999_999_999_u64))),
        ("queue ticket", queue_ticket()),
        ("reservation token", reservation_token()),
        ("garbage", "garbage".to_owned()),
        ("garbage in three parts", "a.b.c".to_owned()),
        ("cut short", valid[..valid.len() - 10].to_owned()),
        ("very long", "x".repeat(6_000)),
    ];
    tokens.extend(
        signed_with_the_public_key()
            .into_iter()
            .map(|token| ("HS256 with the public key as the secret", token)),
    );
    tokens
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_valid_token_is_refused_before_postgres_is_asked() {
    let node = quiet().await;
    let sector = node.on_sale("sale", 10).await;
    let before = node.ledger.last_statement().await;
    for (what, token) in refused_tokens() {
        let answer = node.with_token(token).reserve_one(&sector).await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "invalid_token"), "{what}");
        answer.expect_problem(401, "invalid_token");
        assert_eq!(answer.header("www-authenticate"), "Bearer");
    }
    let body = json!({"sector_id": sector, "quantity": 1});
    let valid = sign(&claims("sale", "ada"));
    for authorization in [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(valid.clone()),
        Some(format!("Basic {valid}")),
        Some(format!("DPoP {valid}")),
        Some(format!("Bearer {valid} {valid}")),
    ] {
        let mut request = node.public.request(Method::POST, "/v1/reservations").json(&body);
        request = request.header("idempotency-key", new_key());
        if let Some(authorization) = &authorization {
            request = request.header("authorization", authorization);
        }
        send(request).await.expect_problem(401, "invalid_token");
    }
    let after = node.ledger.last_statement().await;
    assert_eq!(before, after, "a request without a valid token reached Postgres");
    node.ledger.assert_untouched().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_within_the_leeway_is_good_and_so_is_one_of_the_next_key() {
    let node = single(&[]).await;
    let sector = node.on_sale("sale", 10).await;
    let late = changed(|claims| {
        claims.exp = claims.iat - 1;
        claims.iat -= 600;
        claims.nbf -= 600;
    });
    node.with_token(late).reserve_one(&sector).await.expect(201);
    let keys = admission().issuer.jwks();
    let next = keys.keys[1].common.key_id.clone().expect("keys have names");
    let token = admission().issuer.sign(&claims("sale", "ada"), &next).expect("claims are signed");
    node.with_token(token).reserve_one(&sector).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_good_for_its_own_event_only() {
    let node = single(&[]).await;
    let (here, there) = (node.on_sale("here", 10).await, node.on_sale("there", 10).await);
    node.buyer("nowhere", "ada").reserve_one(&here).await.expect_problem(403, "not_admitted");
    node.buyer("there", "ada").reserve_one(&here).await.expect_problem(404, "not_found");
    let basket = [(there.as_str(), 1), (here.as_str(), 1)];
    let mixed = node.buyer("there", "ada").reserve_items(&basket, "mixed").await;
    mixed.expect_problem(404, "not_found");
    let nothing = node.buyer("here", "ada").reserve_one(&new_key()).await;
    nothing.expect_problem(404, "not_found");
    node.ledger.assert_untouched().await;
}
