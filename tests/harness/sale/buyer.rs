//! People who buy.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use shared::admission::AdmissionClaims;
use tokio::time::sleep;
use uuid::Uuid;

use super::CheckoutNode;
use crate::client::{Answer, Client, send};
use crate::keys::admission;
use crate::wait;

/// Somebody who buys, and the shop that confirms what is paid.
#[derive(Clone)]
pub struct Buyer {
    /// The person's client.
    pub client: Client,
    /// The shop's.
    pub service: Client,
}

impl Buyer {
    /// The same person at another instance.
    #[must_use]
    pub fn at(&self, node: &CheckoutNode) -> Self {
        node.with_token(self.client.bearer().unwrap_or_default())
    }

    /// Asks for places in one sector.
    pub async fn reserve(&self, sector: &str, quantity: i64, key: &str) -> Answer {
        self.reserve_body(&json!({"sector_id": sector, "quantity": quantity}), key).await
    }

    /// Asks for one place, under a key of its own.
    pub async fn reserve_one(&self, sector: &str) -> Answer {
        self.reserve(sector, 1, &new_key()).await
    }

    /// Asks for places in several sectors.
    pub async fn reserve_items(&self, items: &[(&str, i64)], key: &str) -> Answer {
        let items: Vec<Value> = items
            .iter()
            .map(|(sector, quantity)| json!({"sector_id": sector, "quantity": quantity}))
            .collect();
        self.reserve_body(&json!({"items": items}), key).await
    }

    /// Sends any body as a request for places.
    pub async fn reserve_body(&self, body: &Value, key: &str) -> Answer {
        send(self.reserve_request(body, key)).await
    }

    /// The same, not sent yet.
    pub fn reserve_request(&self, body: &Value, key: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(Method::POST, "/v1/reservations");
        request.header("idempotency-key", key).json(body)
    }

    /// Holds one place; gives the reservation's id.
    pub async fn hold(&self, sector: &str) -> String {
        let answer = self.reserve_one(sector).await;
        if answer.status != 202 {
            return answer.expect(201).str("id");
        }
        // Where nobody waits for long for a decision, and the machine is busy. (Not `wait::until`: this is
        // spawned, and an async closure's future is not known to be `Send`.)
        let (id, deadline) = (answer.str("id"), Instant::now() + wait::DEADLINE);
        while self.get(&id).await.expect(200).str("state") != "held" {
            assert!(Instant::now() < deadline, "{id} is not decided");
            sleep(Duration::from_millis(20)).await;
        }
        id
    }

    /// Looks at a reservation.
    pub async fn get(&self, id: &str) -> Answer {
        self.client.get(&format!("/v1/reservations/{id}")).await
    }

    /// Lets a reservation go.
    pub async fn cancel(&self, id: &str) -> Answer {
        self.client.delete(&format!("/v1/reservations/{id}")).await
    }

    /// The shop confirms a reservation, under a key of its own.
    pub async fn confirm(&self, id: &str) -> Answer {
        self.confirm_with(id, &new_key()).await
    }

    /// The shop confirms a reservation, under this key.
    pub async fn confirm_with(&self, id: &str, key: &str) -> Answer {
        confirm(&self.service, id, key).await
    }
}

/// Confirms with whatever credential the client has.
pub async fn confirm(client: &Client, id: &str, key: &str) -> Answer {
    let request = client.request(Method::POST, &format!("/v1/reservations/{id}/confirm"));
    send(request.header("idempotency-key", key)).await
}

/// A key that nobody has used.
#[must_use]
pub fn new_key() -> String {
    Uuid::new_v4().to_string()
}

/// The claims of an admission of this moment, good for ten minutes.
///
/// # Panics
/// When these are not names of an event and a person.
#[must_use]
pub fn claims(event: &str, sub: &str) -> AdmissionClaims {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let (event, sub) = (event.parse().expect("an event"), sub.parse().expect("a person"));
    admission().issuer.claims(sub, event, 1, Uuid::new_v4(), (now, now + 600))
}

/// The token with these claims, as the waiting room would sign it.
///
/// # Panics
/// When they cannot be signed.
#[must_use]
pub fn sign(claims: &AdmissionClaims) -> String {
    let issuer = &admission().issuer;
    issuer.sign(claims, issuer.current_kid()).expect("claims are signed")
}

/// Everybody does the same at once; gives the answers in the people's order.
///
/// # Panics
/// When one of them does.
pub async fn all_at_once<F>(buyers: &[Buyer], act: impl Fn(Buyer) -> F) -> Vec<Answer>
where
    F: Future<Output = Answer> + Send + 'static,
{
    let tasks: Vec<_> = buyers.iter().map(|buyer| tokio::spawn(act(buyer.clone()))).collect();
    join_all(tasks).await.into_iter().map(|answer| answer.expect("a buyer")).collect()
}

/// How many answers have this status.
#[must_use]
pub fn count(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}
