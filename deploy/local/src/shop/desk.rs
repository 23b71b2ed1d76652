//! What the shop's server knows and the browser does not, and the calls that need it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::failed::Failed;
use super::load::Load;
use super::{Addresses, ShopOptions, guard};

const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The shop's desk.
pub(super) struct Desk {
    pub(super) options: ShopOptions,
    /// The shop's own address.
    pub(super) url: String,
    /// What our pages prove themselves with.
    pub(super) guard: String,
    pub(super) client: Client,
    /// Throw-away events that are not closed yet, oldest first.
    open: Mutex<VecDeque<String>>,
    pub(super) load: Load,
    /// The shop is closing.
    pub(super) shutdown: CancellationToken,
}

impl Desk {
    pub(super) fn new(
        options: ShopOptions,
        url: String,
        shutdown: CancellationToken,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            options,
            url,
            guard: guard::secret(),
            client: Client::builder().no_proxy().timeout(ANSWER_WITHIN).build()?,
            open: Mutex::default(),
            load: Load::default(),
            shutdown,
        })
    }

    /// Host and port, as a browser names them.
    pub(super) fn authority(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    /// An operator's call at a service; gives the answer's body.
    pub(super) async fn ops(
        &self,
        service: &Addresses,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failed> {
        let request = self.client.request(method, format!("{}{path}", service.ops_url));
        answered(with_body(request.bearer_auth(&self.options.ops_token), body)).await
    }

    /// A call at the sandbox provider; gives the answer's body.
    pub(super) async fn provider(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failed> {
        let request = self.client.request(method, format!("{}{path}", self.options.sandbox_url));
        answered(with_body(request.bearer_auth(&self.options.sandbox_key), body)).await
    }

    pub(super) fn open_events(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn with_body(request: RequestBuilder, body: Option<&Value>) -> RequestBuilder {
    match body {
        Some(body) => request.json(body),
        None => request,
    }
}

/// The body of a good answer, `null` when it has none.
async fn answered(request: RequestBuilder) -> Result<Value, Failed> {
    let answer = request.send().await?;
    let (status, path) = (answer.status(), answer.url().path().to_owned());
    let text = answer.text().await?;
    if !status.is_success() {
        return Err(Failed::behind(format!("{path} says {status}: {text}")));
    }
    Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
}
