//! A waiting room in front of somebody's shop: the question a proxy asks, and nginx asking it.

use serde_json::json;
use tests::client::send;
use tests::greeter;
use tests::nginx::{Nginx, Ports};
use tests::room::single;
use tests::sale::{claims, sign};

use crate::sale_tokens::refused_tokens;

const EVENT: &str = "my-concert";

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_is_told_whether_an_admission_is_good() {
    let node = single(&[]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.create("other", &json!({})).await.expect(201);
    let person = node.join("sale").await;
    let token = person.admitted().await;
    let admitted = node.public.with_bearer(&token);

    let answer = admitted.get("/v1/events/sale/admission").await.expect(204);
    assert_eq!(answer.header("x-admission-number"), person.number.to_string());
    assert!(!answer.header("x-admission-subject").is_empty());
    assert_eq!(answer.header("cache-control"), "no-store");

    admitted.get("/v1/events/other/admission").await.expect_problem(403, "not_admitted");
    admitted.get("/v1/events/unknown/admission").await.expect_problem(404, "not_found");
    node.public.get("/v1/events/sale/admission").await.expect_problem(401, "invalid_token");
    person.client.get("/v1/events/sale/admission").await.expect_problem(401, "invalid_token");
    for (what, token) in refused_tokens() {
        let answer = node.public.with_bearer(token).get("/v1/events/sale/admission").await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "invalid_token"), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nginx_lets_in_who_was_admitted_and_sends_everybody_else_to_the_waiting_room() {
    let node = single(&[]).await;
    let ports = Ports::free();
    let checkout_url = format!("{}/enter", ports.shop_origin());
    node.create(EVENT, &json!({ "checkout_url": checkout_url })).await.expect(201);
    node.knows(EVENT).await;
    let nginx = Nginx::start(&ports, &node.public, &greeter::start().await).await;

    assert_eq!(nginx.shop.get("/").await.expect(200).text, "welcome stranger");
    let sent_away = unfollowed(&nginx, "/checkout/basket?coupon=1", &[]).await;
    assert_eq!(sent_away.0, 303);
    let page = format!("{}/events/{EVENT}?return_to=", nginx.queue.base());
    assert_eq!(sent_away.1, format!("{page}{}/checkout/basket", nginx.shop.base()));

    let person = node.join(EVENT).await;
    let token = person.admitted().await;
    let bearer = format!("Bearer {token}");
    let cookie = format!("first=1; __Host-admission={token}; last=2");
    let welcome = async |header: (&str, &str)| {
        let request = nginx.shop.request(reqwest::Method::GET, "/checkout/basket");
        let request = request.header(header.0, header.1).header("x-admission-subject", "mallory");
        send(request).await.expect(200).text
    };
    let subject = read_subject(&token);
    assert_eq!(welcome(("authorization", &bearer)).await, format!("welcome {subject}"));
    assert_eq!(welcome(("cookie", &cookie)).await, format!("welcome {subject}"));

    // The token of the fragment becomes a cookie that no script reads, and only if it is good.
    let entered = nginx.shop.with_bearer(&token).get("/enter/token").await.expect(204);
    let kept = entered.header("set-cookie");
    assert_eq!(kept, format!("__Host-admission={token}; Path=/; Secure; HttpOnly; SameSite=Lax"));
    let forged = nginx.shop.with_bearer("forged").get("/enter/token").await;
    assert_eq!((forged.status, forged.header("set-cookie")), (401, ""));

    let mut refused = refused_tokens();
    refused.push(("of another event", sign(&claims("other", "mallory"))));
    for (what, token) in refused {
        // What cannot stand in a header does not arrive.
        let bearer = format!("Bearer {}", token.replace(['\r', '\n'], ""));
        let (status, _) = unfollowed(&nginx, "/checkout/", &[("authorization", &bearer)]).await;
        assert_eq!(status, 303, "{what}");
    }
}

async fn unfollowed(nginx: &Nginx, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let policy = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().no_proxy().redirect(policy).build().expect("a client");
    let mut request = client.get(format!("{}{path}", nginx.shop.base()));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.expect("nginx answers");
    let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
    (answer.status().as_u16(), location.unwrap_or_default().to_owned())
}

fn read_subject(token: &str) -> String {
    let claims: shared::admission::AdmissionClaims =
        jsonwebtoken::dangerous::insecure_decode(token).expect("a token of ours").claims;
    claims.sub.to_string()
}
