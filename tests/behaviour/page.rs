//! The waiting page over HTTP: its forms, its headers, what it weighs. In a browser: `tests/browser/page_*`.

use std::path::PathBuf;

use reqwest::{Method, RequestBuilder, StatusCode, redirect};
use serde_json::json;
use tests::room::{RoomNode, single};
use tests::{stores, wait};

const PAGE: &str = "/events/sale";

async fn room(settings: serde_json::Value) -> RoomNode {
    let node = single(&["--insecure-cookies"]).await;
    node.create("sale", &settings).await.expect(201);
    node.knows("sale").await;
    node
}

/// A browser without JavaScript: it keeps no cookies by itself and follows no redirect.
fn browser(node: &RoomNode, method: Method, path: &str) -> RequestBuilder {
    let client = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none());
    let url = format!("{}{path}", node.public.base());
    client.build().expect("a client").request(method, url)
}

async fn press(node: &RoomNode, path: &str, action: &str, cookie: &str) -> reqwest::Response {
    let form = browser(node, Method::POST, path).form(&[("action", action)]);
    form.header("cookie", cookie).send().await.expect("an answer")
}

fn header<'a>(answer: &'a reqwest::Response, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// `name=value` of the cookie that is set.
fn cookie(answer: &reqwest::Response) -> String {
    header(answer, "set-cookie").split(';').next().unwrap_or_default().to_owned()
}

async fn last_number(node: &RoomNode) -> u64 {
    node.ops.get("/v1/admin/events/sale").await.expect(200).number("last_number")
}

#[tokio::test(flavor = "multi_thread")]
async fn to_open_the_page_is_not_to_join_and_the_button_joins_once() {
    let node = room(json!({ "max_active_sessions": 1 })).await;
    node.join("sale").await.admitted().await;
    let opened = node.public.get(PAGE).await.expect(200);
    assert!(opened.text.contains("data-state=\"welcome\"") && opened.header("refresh").is_empty());
    assert_eq!(last_number(&node).await, 1);

    let joined = press(&node, PAGE, "join", "").await;
    assert_eq!((joined.status(), header(&joined, "location")), (StatusCode::SEE_OTHER, PAGE));
    let ticket = cookie(&joined);
    let again = press(&node, PAGE, "join", &ticket).await;
    assert_eq!(again.status(), StatusCode::SEE_OTHER);
    assert_eq!(last_number(&node).await, 2);

    // How one stands, and when the browser is to look again: never so early that it would be refused.
    let page = browser(&node, Method::GET, PAGE).header("cookie", &ticket).send().await;
    let page = page.expect("an answer");
    assert!(header(&page, "refresh").parse::<u64>().expect("seconds") >= 2);
    assert_eq!(header(&page, "cache-control"), "no-store");
    assert!(page.text().await.expect("a page").contains("data-state=\"waiting\""));
    // Its script looks after itself.
    let scripted = format!("{ticket}; stanchion-script=1");
    let page = browser(&node, Method::GET, PAGE).header("cookie", scripted).send().await;
    assert_eq!(header(&page.expect("an answer"), "refresh"), "");

    let left = press(&node, PAGE, "leave", &ticket).await;
    assert!(header(&left, "set-cookie").contains("Max-Age=0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_by_form_leads_to_the_checkout_with_the_token_in_the_fragment() {
    let node = room(json!({ "return_origins": ["https://shop.example"] })).await;
    let path = format!("{PAGE}?lang=de&return_to=https%3A%2F%2Fshop.example%2Fx");
    let joined = press(&node, &path, "join", "").await;
    assert_eq!(header(&joined, "location"), path);
    let ticket = cookie(&joined);
    let claimed = wait::until("a claim", async || {
        let answer = press(&node, &path, "claim", &ticket).await;
        (header(&answer, "location").starts_with("https://shop.example/#token=ey"))
            .then_some(answer)
    })
    .await;
    assert_eq!(claimed.status(), StatusCode::SEE_OTHER);
    assert!(header(&claimed, "location").ends_with("&return_to=https%3A%2F%2Fshop.example%2Fx"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_another_site_overwrites_nobodys_place() {
    let node = room(json!({})).await;
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
        let form = browser(&node, Method::POST, PAGE).form(&[("action", "join")]);
        let answer = form.header(name, value).send().await.expect("an answer");
        assert_eq!((header(&answer, "location"), cookie(&answer).as_str()), (PAGE, ""));
    }
    assert_eq!(last_number(&node).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_is_said_on_a_page_with_its_status() {
    let node = room(json!({ "max_queue_length": 1, "max_active_sessions": 1 })).await;
    node.join("sale").await.admitted().await;
    node.join("sale").await;
    let full = press(&node, PAGE, "join", "").await;
    assert_eq!((full.status().as_u16(), header(&full, "retry-after")), (503, "30"));
    assert!(full.text().await.expect("a page").contains("data-state=\"full\""));
    let change = json!({ "access": "invite_only", "max_queue_length": null });
    node.ops.patch("/v1/admin/events/sale", &change).await.expect(200);
    let form = [("action", "join"), ("access_code", "WRONG")];
    let answer = browser(&node, Method::POST, PAGE).form(&form).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 403);
    assert!(answer.text().await.expect("a page").contains("id=\"access-code\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_joins_by_form_are_refused_on_a_page() {
    let node = single(&["--insecure-cookies", "--join-limit-per-minute", "1"]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.knows("sale").await;
    press(&node, PAGE, "join", "").await;
    let busy = press(&node, PAGE, "join", "").await;
    assert_eq!(busy.status().as_u16(), 429);
    assert!(!header(&busy, "retry-after").is_empty());
    assert!(busy.text().await.expect("a page").contains("data-state=\"busy\""));
    assert_eq!(last_number(&node).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_is_the_chosen_one_and_is_remembered() {
    let node = room(json!({})).await;
    let get = async |path: &str, headers: &[(&str, &str)]| {
        let mut request = browser(&node, Method::GET, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.expect("an answer")
    };
    let german = get(PAGE, &[("accept-language", "de-AT,en;q=0.5")]).await;
    assert_eq!(header(&german, "content-language"), "de");
    assert!(header(&german, "vary").contains("Accept-Language"));
    let arabic = get("/events/sale?lang=ar", &[("accept-language", "de")]).await;
    let chosen = cookie(&arabic);
    assert!(arabic.text().await.expect("a page").contains("lang=\"ar\" dir=\"rtl\""));
    let again = get(PAGE, &[("accept-language", "de"), ("cookie", &chosen)]).await;
    assert_eq!(header(&again, "content-language"), "ar");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_events_colour_and_logo_are_let_in_and_nothing_else() {
    let settings = json!({
        "brand_color": "#ffee00", "logo_url": "https://cdn.example/logo.svg",
        "checkout_url": "https://pay.example/x",
    });
    let node = room(settings).await;
    let page = node.public.get(PAGE).await.expect(200);
    let policy = page.header("content-security-policy");
    assert!(policy.contains("img-src 'self' https://cdn.example;"), "{policy}");
    assert!(policy.contains("form-action 'self' https://pay.example;"), "{policy}");
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe")
    );
    let text = page.text.replace("&#x2f;", "/");
    assert!(text.contains("src=\"https://cdn.example/logo.svg\""));
    for inline in ["<style", " style=", "<script>", " onclick="] {
        assert!(!page.text.contains(inline), "{inline} in {}", page.text);
    }
    let style = node.public.get("/events/sale/brand.css?v=ffee00").await.expect(200);
    assert!(style.text.contains("--brand:#ffee00;--on-brand:#000000"), "{}", style.text);
}

/// 30 KB over the wire: the page with its language, the style and the script.
#[tokio::test(flavor = "multi_thread")]
async fn all_of_the_page_weighs_less_than_thirty_kilobytes() {
    let node = room(json!({})).await;
    for language in ["en", "ja", "ar"] {
        let page = node.public.get(&format!("{PAGE}?lang={language}")).await.expect(200);
        let loaded = page.text.split('"').filter(|text| text.starts_with("/assets/"));
        let paths: Vec<String> = [format!("{PAGE}?lang={language}")]
            .into_iter()
            .chain(loaded.map(str::to_owned))
            .collect();
        assert_eq!(paths.len(), 3, "{paths:?}");
        let mut bytes = 0;
        for path in paths {
            let request = browser(&node, Method::GET, &path).header("accept-encoding", "gzip");
            let answer = request.send().await.expect("an answer");
            assert_eq!(header(&answer, "content-encoding"), "gzip", "{path}");
            bytes += answer.bytes().await.expect("a body").len();
        }
        assert!(bytes < 30_000, "{language}: {bytes} bytes");
    }
}

fn template(room: &str) -> PathBuf {
    let directory = stores::scratch();
    std::fs::create_dir_all(&directory).expect("a directory");
    std::fs::write(directory.join("room.html"), room).expect("a file");
    std::fs::write(directory.join("ours.css"), "h1 { color: green }").expect("a file");
    directory
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_template_replaces_the_page() {
    let room = "{% extends 'stanchion/room.html' %}{% block footer %}<p>Imprint</p>{% endblock %}";
    let directory = template(room);
    let node = single(&["--template-dir", &directory.display().to_string()]).await;
    node.create("sale", &json!({})).await.expect(201);
    node.knows("sale").await;
    let page = node.public.get(PAGE).await.expect(200);
    assert!(page.text.contains("<p>Imprint</p>") && page.text.contains("id=\"headline\""));
    let style = node.public.get("/assets/custom/ours.css").await.expect(200);
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    for path in ["room.html", "../room.html", "..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "x"] {
        let path = format!("/assets/custom/{path}");
        node.public.get(&path).await.expect_problem(404, "not_found");
    }
}
