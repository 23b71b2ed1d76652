//! What a shop's page may do from a browser.

use reqwest::Method;
use tests::client::{Answer, send};
use tests::sale::{CheckoutNode, single};

const SHOP: &str = "https://shop.example";

async fn preflight(node: &CheckoutNode, origin: &str, method: &str, path: &str) -> Answer {
    let request = node.public.request(Method::OPTIONS, path).header("origin", origin);
    let request = request.header("access-control-request-method", method);
    let headers = "authorization,content-type,idempotency-key";
    send(request.header("access-control-request-headers", headers)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_shop_may_call_and_read_every_answer() {
    let node = single(&["--cors-origins", "https://shop.example,https://other.example"]).await;
    let sector = node.on_sale("sale", 10).await;
    for origin in [SHOP, "https://other.example"] {
        for (method, path) in [
            ("POST", "/v1/reservations"),
            ("GET", "/v1/reservations/0190a6a0-0000-7000-8000-000000000001"),
            ("DELETE", "/v1/reservations/0190a6a0-0000-7000-8000-000000000001"),
        ] {
            let allowed = preflight(&node, origin, method, path).await.expect(200);
            assert_eq!(allowed.header("access-control-allow-origin"), origin);
            assert!(allowed.header("access-control-allow-methods").contains(method));
            let headers = allowed.header("access-control-allow-headers").to_lowercase();
            for header in ["authorization", "content-type", "idempotency-key"] {
                assert!(headers.contains(header), "{headers}");
            }
            assert!(allowed.header("vary").to_lowercase().contains("origin"));
        }
    }
    // A refusal must be readable too, with what the page needs of its headers.
    let refused = node.public.request(Method::POST, "/v1/reservations").header("origin", SHOP);
    let refused = send(refused).await;
    refused.expect_problem(401, "invalid_token");
    assert_eq!(refused.header("access-control-allow-origin"), SHOP);
    let exposed = refused.header("access-control-expose-headers").to_lowercase();
    for header in ["location", "retry-after", "x-request-id", "idempotent-replayed"] {
        assert!(exposed.contains(header), "{exposed}");
    }
    node.buyer("sale", "ada").reserve_one(&sector).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_is_not_listed_may_not() {
    let node = single(&["--cors-origins", SHOP]).await;
    let closed = single(&[]).await;
    for (node, origin) in [
        (&node, "https://evil.example"),
        (&node, "https://shop.example.evil.example"),
        (&node, "http://shop.example"),
        (&node, "null"),
        (&closed, SHOP),
    ] {
        let answer = preflight(node, origin, "POST", "/v1/reservations").await;
        assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
        let request = node.public.request(Method::GET, "/healthz").header("origin", origin);
        assert_eq!(send(request).await.header("access-control-allow-origin"), "", "{origin}");
    }
}
