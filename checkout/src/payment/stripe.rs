//! Stripe, by its PaymentIntents API.
//!
//! A charge is made in two steps: a PaymentIntent is made and its name written down, then it is
//! confirmed. So a charge of which we have no name was never made, and one that has a name can be
//! looked up for ever, also when Stripe has forgotten our `Idempotency-Key` (after a day). A
//! PaymentIntent is captured once, however often it is confirmed.

mod wire;

use http::{HeaderMap, StatusCode};
use reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;

use super::provider::{Answer, Forged, Found, Notice, Order, Prepared, Provider, Report, Trouble};
use super::sandbox::trouble;
use super::signature::Signatures;
use wire::{Event, Failure, Intent, List, Object, Refund};

/// The version of the API that this is written for.
const API_VERSION: &str = "2024-06-20";

/// Talks to Stripe.
pub struct Stripe {
    client: Client,
    url: Url,
    key: SecretString,
    signatures: Signatures,
}

/// An answer, or a refusal that is one too.
enum Replied<T> {
    Object(T),
    /// Stripe has understood and will not do it; nothing has moved.
    Refused(Failure),
    NotThere,
}

impl Stripe {
    /// Stripe, or what stands for it, at this address.
    pub fn new(client: Client, url: Url, key: SecretString, signatures: Signatures) -> Self {
        Self { client, url, key, signatures }
    }

    fn url(&self, path: &[&str]) -> Result<Url, Trouble> {
        let mut url = self.url.clone();
        let mut segments =
            url.path_segments_mut().map_err(|()| Trouble("the URL has no path".to_owned()))?;
        segments.pop_if_empty().push("v1").extend(path);
        drop(segments);
        Ok(url)
    }

    async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Replied<T>, Trouble> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.send(self.client.get(url)).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        key: &str,
        form: &[(&str, &str)],
    ) -> Result<Replied<T>, Trouble> {
        let request = self.client.post(self.url(path)?).header("idempotency-key", key);
        self.send(request.form(form)).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<Replied<T>, Trouble> {
        let request = request.bearer_auth(self.key.expose_secret());
        let answer = request.header("stripe-version", API_VERSION).send().await.map_err(trouble)?;
        match answer.status() {
            StatusCode::OK => Ok(Replied::Object(answer.json().await.map_err(trouble)?)),
            StatusCode::NOT_FOUND => Ok(Replied::NotThere),
            StatusCode::BAD_REQUEST | StatusCode::PAYMENT_REQUIRED => {
                let failure: wire::Failed = answer.json().await.map_err(trouble)?;
                Ok(Replied::Refused(failure.error))
            }
            // A wrong key (401, 403), a lock or a reused key (409), too many (429), their trouble (5xx):
            // nothing is known by it, and it is asked again.
            status => Err(Trouble(format!("Stripe answered {status}"))),
        }
    }

    async fn create(&self, order: &Order) -> Result<Prepared, Trouble> {
        let (amount, currency) = (order.amount.to_string(), order.currency.to_lowercase());
        let [event, payment, reservation, key] = metadata(order);
        let form = [
            ("amount", amount.as_str()),
            ("currency", &currency),
            ("automatic_payment_methods[enabled]", "true"),
            ("automatic_payment_methods[allow_redirects]", "never"),
            ("metadata[stanchion_event]", &event),
            ("metadata[stanchion_payment]", &payment),
            ("metadata[stanchion_reservation]", &reservation),
            ("metadata[stanchion_key]", &key),
        ];
        match self.post::<Intent>(&["payment_intents"], &order.key, &form).await? {
            Replied::Object(intent) => Ok(Prepared::Named(intent.id)),
            Replied::Refused(failure) => Ok(Prepared::Refused(failure.report())),
            Replied::NotThere => Err(Trouble("Stripe has no PaymentIntents".to_owned())),
        }
    }

    async fn confirm(&self, order: &Order) -> Result<Report, Trouble> {
        let intent = order.reference.as_deref().ok_or_else(no_reference)?;
        let key = format!("{}-confirm", order.key);
        let form: Vec<_> =
            order.method.iter().map(|method| ("payment_method", method.as_str())).collect();
        match self.post::<Intent>(&["payment_intents", intent, "confirm"], &key, &form).await? {
            Replied::Object(intent) => Ok(intent.report()),
            // Confirmed before, perhaps: its own record decides.
            Replied::Refused(failure) if failure.is_unexpected_state() => {
                self.intent(intent).await?.ok_or_else(|| Trouble(failure.to_string()))
            }
            Replied::Refused(failure) => Ok(failure.report()),
            // The PaymentIntent or the payment method: either way there is nothing to charge.
            Replied::NotThere => Ok(Report::failed("resource_missing")),
        }
    }

    /// What its own record says; none when it was never confirmed.
    async fn intent(&self, intent: &str) -> Result<Option<Report>, Trouble> {
        match self.get::<Intent>(&["payment_intents", intent], &[]).await? {
            Replied::Object(intent) if intent.was_confirmed() => Ok(Some(intent.report())),
            Replied::Object(_) | Replied::NotThere => Ok(None),
            Replied::Refused(failure) => Err(Trouble(failure.to_string())),
        }
    }

    async fn give_back(&self, order: &Order) -> Result<Report, Trouble> {
        let (_, intent) = order.charge.as_ref().ok_or_else(no_reference)?;
        let intent = intent.as_deref().ok_or_else(no_reference)?;
        let amount = order.amount.to_string();
        let [event, payment, reservation, key] = metadata(order);
        let form = [
            ("payment_intent", intent),
            ("amount", amount.as_str()),
            ("metadata[stanchion_event]", &event),
            ("metadata[stanchion_payment]", &payment),
            ("metadata[stanchion_reservation]", &reservation),
            ("metadata[stanchion_key]", &key),
        ];
        match self.post::<Refund>(&["refunds"], &order.key, &form).await? {
            Replied::Object(refund) => Ok(refund.report()),
            Replied::Refused(failure) => {
                Ok(Report { key: Some(order.key.clone()), ..failure.report() })
            }
            Replied::NotThere => Err(Trouble("Stripe does not know the charge".to_owned())),
        }
    }

    async fn find_refund(&self, order: &Order) -> Result<Found, Trouble> {
        let (_, intent) = order.charge.as_ref().ok_or_else(no_reference)?;
        let intent = intent.as_deref().ok_or_else(no_reference)?;
        let query = [("payment_intent", intent), ("limit", "100")];
        match self.get::<List<Refund>>(&["refunds"], &query).await? {
            Replied::Object(list) => {
                let ours = list.data.iter().find(|refund| refund.is_of_key(&order.key));
                Ok(ours.map_or(Found::NotThere, |refund| Found::There(refund.report())))
            }
            Replied::NotThere => Ok(Found::NotThere),
            Replied::Refused(failure) => Err(Trouble(failure.to_string())),
        }
    }

    async fn cancel(&self, order: &Order) -> Result<Report, Trouble> {
        // Without a name it was never confirmed, and cannot be any more: see `store::payments`.
        let Some(intent) = order.reference.as_deref() else {
            return Ok(Report::failed("withdrawn"));
        };
        let key = format!("{}-cancel", order.key);
        match self.post::<Intent>(&["payment_intents", intent, "cancel"], &key, &[]).await? {
            Replied::Object(intent) => Ok(intent.report()),
            Replied::Refused(failure) => {
                self.intent(intent).await?.ok_or_else(|| Trouble(failure.to_string()))
            }
            Replied::NotThere => Ok(Report::failed("withdrawn")),
        }
    }
}

impl Provider for Stripe {
    fn name(&self) -> &'static str {
        "stripe"
    }

    fn prepare<'a>(&'a self, order: &'a Order) -> Answer<'a, Prepared> {
        Box::pin(self.create(order))
    }

    fn charge<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(self.confirm(order))
    }

    fn refund<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(self.give_back(order))
    }

    fn look_up<'a>(&'a self, order: &'a Order) -> Answer<'a, Found> {
        Box::pin(async {
            if order.charge.is_some() {
                return self.find_refund(order).await;
            }
            let Some(intent) = order.reference.as_deref() else {
                return Ok(Found::NotThere);
            };
            Ok(self.intent(intent).await?.map_or(Found::NotThere, Found::There))
        })
    }

    fn withdraw<'a>(&'a self, order: &'a Order) -> Answer<'a, Report> {
        Box::pin(self.cancel(order))
    }

    fn webhook(&self, headers: &HeaderMap, body: &[u8], now: u64) -> Result<Notice, Forged> {
        self.signatures.verify(headers.get("stripe-signature"), body, now)?;
        let event: Event = serde_json::from_slice(body).map_err(|_| Forged::Body)?;
        let (report, metadata) = match event.object() {
            Object::Intent(intent) => (intent.report(), intent.metadata),
            Object::Refund(refund) => (refund.report(), refund.metadata),
            Object::Other => return Ok(Notice::Other),
        };
        Ok(match metadata.of_ours() {
            Some((of, payment)) => Notice::About { id: event.id, event: of, payment, report },
            None => Notice::Other,
        })
    }
}

fn metadata(order: &Order) -> [String; 4] {
    [
        order.event.to_string(),
        order.payment.to_string(),
        order.reservation.to_string(),
        order.key.clone(),
    ]
}

fn no_reference() -> Trouble {
    Trouble("the PaymentIntent has no name yet".to_owned())
}
