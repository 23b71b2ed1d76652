//! Who may do what on the ops listeners: the full token, the one that only reads, and browsers that have
//! signed in with either.

use reqwest::Method;
use serde_json::json;
use tests::client::{Answer, Client, send};
use tests::document::Document;
use tests::keys::{OPS_TOKEN, READ_TOKEN};
use tests::room::single;
use tests::sale;

const READER: [&str; 2] = ["--ops-read-token", READ_TOKEN];

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_reads_everything_and_changes_nothing() {
    let (room, checkout) = tokio::join!(single(&READER), sale::single(&READER));
    room.create("sale", &json!({})).await.expect(201);
    room.knows("sale").await;
    checkout.on_sale("sale", 1).await;
    for ops in [&room.ops, &checkout.ops] {
        let reader = ops.with_bearer(READ_TOKEN);
        assert_eq!(reader.get("/v1/admin/session").await.expect(200).str("role"), "read");
        assert_eq!(ops.get("/v1/admin/session").await.expect(200).str("role"), "full");
        let document = Document::of(&reader).await;
        let paths = document.value()["paths"].as_object().expect("paths").clone();
        let mut changes = 0;
        for (path, calls) in paths {
            let address = path.replace("{event}", "sale").replace("{control}", "pause");
            for (method, call) in calls.as_object().expect("calls") {
                if call["security"].is_array() || path.ends_with("/stream") {
                    continue;
                }
                let wire = method.to_uppercase().parse().expect("a method");
                let answer = send(reader.request(wire, &address)).await;
                if method == "get" {
                    answer.expect(200);
                } else {
                    answer.expect_problem(403, "read_only");
                    let described = format!("{} {path}", method.to_uppercase());
                    document.describes(&described, &answer);
                    changes += 1;
                }
            }
        }
        assert!(changes >= 3, "{changes} calls that change something");
    }
    let kept = room.ops.get("/v1/admin/events/sale").await.expect(200);
    assert_eq!((kept.str("status").as_str(), kept.number("version")), ("open", 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_second_token_there_are_no_readers() {
    let (room, checkout) = tokio::join!(single(&[]), sale::single(&[]));
    for ops in [&room.ops, &checkout.ops] {
        let reader = ops.with_bearer(READ_TOKEN);
        reader.get("/v1/admin/events").await.expect_problem(401, "invalid_token");
    }
}

async fn sign_in(client: &Client, token: &str) -> Answer {
    let request = client.request(Method::POST, "/dashboard/sign-in");
    send(request.json(&json!({ "token": token }))).await
}

/// `name=value` of the cookie that an answer sets.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap_or_default().to_owned()
}

/// A request of a signed-in browser, with further headers.
async fn with_cookie(
    client: &Client,
    (method, path): (Method, &str),
    cookie: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let mut request = client.request(method, path).header("cookie", cookie);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(request).await
}

const PAUSE: (Method, &str) = (Method::POST, "/v1/admin/events/sale/pause");
const LIST: (Method, &str) = (Method::GET, "/v1/admin/events");
const OWN_PAGE: (&str, &str) = ("x-stanchion-dashboard", "1");

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_signs_in_and_changes_things_from_our_own_page_alone() {
    let room = single(&READER).await;
    room.create("sale", &json!({})).await.expect(201);
    let client = room.ops.anonymous();
    sign_in(&client, "ops-token-of-the-testz").await.expect_problem(401, "invalid_token");

    let signed_in = sign_in(&client, OPS_TOKEN).await.expect(200);
    assert_eq!(signed_in.str("role"), "full");
    let attributes = signed_in.header("set-cookie").to_owned();
    for part in ["__Host-stanchion-ops=", "; HttpOnly", "; SameSite=Strict", "; Secure", "=43200"] {
        assert!(attributes.contains(part), "{part} in {attributes}");
    }
    assert!(!attributes.contains(OPS_TOKEN));
    let cookie = cookie(&signed_in);
    with_cookie(&client, LIST, &cookie, &[]).await.expect(200);

    // Another page makes the browser send the cookie along, but cannot send our header.
    for headers in [&[][..], &[OWN_PAGE, ("sec-fetch-site", "same-site")]] {
        let refused = with_cookie(&client, PAUSE, &cookie, headers).await;
        refused.expect_problem(403, "cross_site");
    }
    assert_eq!(room.ops.get("/v1/admin/events/sale").await.expect(200).str("status"), "open");
    let own = [OWN_PAGE, ("sec-fetch-site", "same-origin")];
    let paused = with_cookie(&client, PAUSE, &cookie, &own).await.expect(200);
    assert_eq!(paused.str("status"), "paused");
    // Who sends a token is asked for no header.
    room.ops.post("/v1/admin/events/sale/resume").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_readers_session_reads_and_who_signs_out_is_out() {
    let room = single(&READER).await;
    room.create("sale", &json!({})).await.expect(201);
    let client = room.ops.anonymous();
    let signed_in = sign_in(&client, READ_TOKEN).await.expect(200);
    assert_eq!(signed_in.str("role"), "read");
    let cookie = cookie(&signed_in);
    with_cookie(&client, LIST, &cookie, &[]).await.expect(200);
    let refused = with_cookie(&client, PAUSE, &cookie, &[OWN_PAGE]).await;
    refused.expect_problem(403, "read_only");
    let raised = cookie.replace("=read.", "=full.");
    with_cookie(&client, LIST, &raised, &[]).await.expect_problem(401, "invalid_token");

    let sign_out = (Method::POST, "/dashboard/sign-out");
    let foreign = with_cookie(&client, sign_out.clone(), &cookie, &[]).await;
    foreign.expect_problem(403, "cross_site");
    let signed_out = with_cookie(&client, sign_out, &cookie, &[OWN_PAGE]).await.expect(204);
    assert!(signed_out.header("set-cookie").contains("Max-Age=0"));
    // Nor is a copy of the cookie good any more.
    with_cookie(&client, LIST, &cookie, &[]).await.expect_problem(401, "invalid_token");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_ten_wrong_tokens_signing_in_has_to_wait_and_tokens_work_on() {
    let room = single(&["--insecure-cookies"]).await;
    let client = room.ops.anonymous();
    let plain = sign_in(&client, OPS_TOKEN).await.expect(200);
    assert!(plain.header("set-cookie").starts_with("stanchion-ops="), "{plain:?}");
    assert!(!plain.header("set-cookie").contains("Secure"), "{plain:?}");
    for n in 0..10 {
        let wrong = sign_in(&client, &format!("some-wrong-token-{n}")).await;
        wrong.expect_problem(401, "invalid_token");
    }
    let refused = sign_in(&client, OPS_TOKEN).await;
    refused.expect_problem(429, "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().expect("seconds") >= 1);
    room.ops.get("/v1/admin/events").await.expect(200);
    let cookie = cookie(&plain);
    with_cookie(&client, LIST, &cookie, &[]).await.expect(200);
}
