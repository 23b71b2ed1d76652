//! What a listener serves, described: `/openapi.json` (OpenAPI 3.1) and the page `/docs` that shows it.
//!
//! A call is added to the router and to the document in one line of a service's `app.rs`, so that neither
//! can have what the other has not. Its summary, bodies and answers stand at its handler, in
//! `#[utoipa::path]`; what many calls have in common is added here: the `{event}` of a path, the problems
//! that any call can be answered with, and `x-request-id`.

mod page;
mod problems;

use axum::body::Bytes;
use axum::response::IntoResponse;
use axum::routing::MethodRouter;
use axum::{Extension, Router};
use http::{HeaderValue, header};
use serde_json::{Value, json};
use utoipa::openapi::path::Paths;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::UtoipaMethodRouter;
use utoipa_axum::routes;

pub use page::page;
pub use problems::problem_answers;

use crate::ids::EventId;
use crate::problem::{self, Code};

/// A group of calls, in the order in which the page shows them.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// The `tag` of its calls.
    pub name: &'static str,
    /// What they are for.
    pub about: &'static str,
}

/// A way to say who one is.
#[derive(Debug, Clone, Copy)]
pub struct Credential {
    /// Its name in the `security` of a call.
    pub name: &'static str,
    /// What it is and where one gets it.
    pub about: &'static str,
    /// How it is sent.
    pub sent_as: SentAs,
}

/// How a credential is sent.
#[derive(Debug, Clone, Copy)]
pub enum SentAs {
    /// `Authorization: Bearer …`
    Bearer,
    /// In the cookie of that name.
    Cookie(&'static str),
}

type Schemas = Vec<(String, RefOr<Schema>)>;

/// Calls: the router that serves them, and the document that describes them.
pub struct Calls<S = ()> {
    router: Router<S>,
    /// What needs no credential where all others do.
    open: Router<S>,
    document: Value,
}

impl<S: Clone + Send + Sync + 'static> Calls<S> {
    /// None yet.
    pub fn new(title: &str, about: &str, groups: &[Group], credentials: &[Credential]) -> Self {
        let tags: Vec<_> = groups
            .iter()
            .map(|group| json!({"name": group.name, "description": group.about}))
            .collect();
        let schemes = credentials.iter().map(|credential| {
            let mut scheme = match credential.sent_as {
                SentAs::Bearer => json!({"type": "http", "scheme": "bearer"}),
                SentAs::Cookie(name) => json!({"type": "apiKey", "in": "cookie", "name": name}),
            };
            scheme["description"] = credential.about.into();
            (credential.name.to_owned(), scheme)
        });
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": title,
                "description": about,
                "version": env!("CARGO_PKG_VERSION"),
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "tags": tags,
            "paths": {},
            "components": {
                "schemas": {
                    EventId::name(): EventId::schema(),
                    problem::SCHEMA_NAME: problem::schema(),
                },
                "headers": {"RequestId": {
                    "description": "Names this request in our logs. Sent along by the caller \
                                    (1 to 64 of a-z, A-Z, 0-9, `-`, `_`, `.`), it is kept.",
                    "required": true,
                    "schema": {"type": "string"},
                }},
                "securitySchemes": schemes.collect::<serde_json::Map<_, _>>(),
            },
        });
        Self { router: Router::new(), open: Router::new(), document }
    }

    /// Every call needs one of these credentials, unless it says otherwise itself.
    #[must_use]
    pub fn behind(mut self, credentials: &[&'static str]) -> Self {
        self.document["security"] =
            credentials.iter().map(|credential| json!({*credential: []})).collect();
        self
    }

    /// Adds a call, named by its method and path: `.call("GET /v1/things", routes!(things::list))`.
    ///
    /// # Panics
    /// At the start of the program, when the handler is described as of another method.
    #[must_use]
    pub fn call(mut self, name: &str, call: UtoipaMethodRouter<S>) -> Self {
        let (schemas, paths, handler) = call;
        let path = self.describe(name, schemas, paths);
        self.router = self.router.route(path, handler);
        self
    }

    /// Adds a call that needs no credential where all others do, which its `security(())` must say too.
    ///
    /// # Panics
    /// As [`Calls::call`].
    #[must_use]
    pub fn open_call(mut self, name: &str, call: UtoipaMethodRouter<S>) -> Self {
        let (schemas, paths, handler) = call;
        let path = self.describe(name, schemas, paths);
        self.open = self.open.route(path, handler);
        self
    }

    fn describe<'a>(&mut self, name: &'a str, schemas: Schemas, paths: Paths) -> &'a str {
        let (method, path) = name.split_once(' ').expect("a call is named by method and path");
        let method = method.to_ascii_lowercase();
        let described = paths.paths.into_values().next().map(json_of).unwrap_or_default();
        let mut operation = described[&method].clone();
        assert!(operation.is_object(), "{name}: #[utoipa::path] has another method");
        for (name, schema) in schemas {
            self.document["components"]["schemas"][name] = json_of(schema);
        }
        self.complete(&method, path, &mut operation);
        self.document["paths"][path][method] = operation;
        path
    }

    /// Adds a file that a page loads: it is no call, and the document does not have it.
    #[must_use]
    pub fn asset(mut self, path: &str, handler: MethodRouter<S>) -> Self {
        self.router = self.router.route(path, handler);
        self
    }

    /// Adds a file that an open page loads.
    #[must_use]
    pub fn open_asset(mut self, path: &str, handler: MethodRouter<S>) -> Self {
        self.open = self.open.route(path, handler);
        self
    }

    /// Gives the handlers their state.
    pub fn with_state<S2>(self, state: S) -> Calls<S2>
    where
        S2: Clone + Send + Sync + 'static,
    {
        Calls {
            router: self.router.with_state(state.clone()),
            open: self.open.with_state(state),
            document: self.document,
        }
    }

    /// The router, with the document at `/openapi.json`. Goes together with [`page`], which shows it.
    pub fn documented(self) -> Router<S> {
        let (router, open) = self.documented_parts();
        router.merge(open)
    }

    /// The same in two: what needs a credential, and what is open.
    pub(crate) fn documented_parts(self) -> (Router<S>, Router<S>) {
        let mut calls = self.call("GET /openapi.json", routes!(openapi));
        // The page is served by `page`, on an ops listener beside the token and not behind it.
        let (schemas, paths, _): UtoipaMethodRouter<S> = routes!(page::docs);
        calls.describe("GET /docs", schemas, paths);
        flatten(&mut calls.document["components"]["schemas"]);
        let text = Bytes::from(calls.document.to_string());
        (calls.router.layer(Extension(Document(text))), calls.open)
    }

    /// How a change is refused, beside by who it is for.
    fn refused_to_readers(&self) -> Vec<Code> {
        let needs = self.document["security"].as_array().map_or(&[][..], Vec::as_slice);
        let schemes = &self.document["components"]["securitySchemes"];
        let by_cookie = |name: &String| schemes[name]["in"] == "cookie";
        let mut names = needs.iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys);
        let mut codes = Vec::new();
        if !needs.is_empty() {
            codes.push(Code::ReadOnly);
        }
        if names.any(by_cookie) {
            codes.push(Code::CrossSite);
        }
        codes
    }

    fn complete(&mut self, method: &str, path: &str, operation: &mut Value) {
        let order: usize = self.document["paths"]
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values)
            .filter_map(Value::as_object)
            .map(serde_json::Map::len)
            .sum();
        operation["x-order"] = order.into();
        let mut common = vec![Code::Internal, Code::Unavailable];
        if path.contains("{event}") {
            add_event(operation);
        }
        if path.contains('{') {
            common.push(Code::InvalidRequest);
        }
        if let Some(body) = operation.get_mut("requestBody") {
            // A body that may be left out is not one that may be `null`.
            if let Some(schema) = body.pointer_mut("/content/application~1json/schema")
                && let Some(not_null) = schema.pointer("/oneOf/0").cloned()
            {
                *schema = not_null;
            }
            common.extend([Code::InvalidRequest, Code::PayloadTooLarge]);
        }
        let needs = operation.get("security").or(self.document.get("security"));
        let optional = |needs: &Vec<Value>| needs.contains(&json!({})) || needs.is_empty();
        if needs.and_then(Value::as_array).is_some_and(|needs| !optional(needs)) {
            common.push(Code::InvalidToken);
        }
        // A listener that is behind one token for all has another one that only reads.
        if method != "get" && operation.get("security").is_none() {
            common.extend(self.refused_to_readers());
        }
        for code in common {
            problems::add(&mut operation["responses"], code, code.status());
        }
        for response in
            operation["responses"].as_object_mut().into_iter().flat_map(|all| all.values_mut())
        {
            response["headers"]["x-request-id"] = json!({"$ref": "#/components/headers/RequestId"});
        }
    }
}

fn add_event(operation: &mut Value) {
    let event = json!({
        "name": "event", "in": "path", "required": true,
        "schema": {"$ref": format!("#/components/schemas/{}", EventId::name())},
    });
    match operation.get_mut("parameters").and_then(Value::as_array_mut) {
        Some(parameters) => parameters.insert(0, event),
        None => operation["parameters"] = json!([event]),
    }
}

/// Puts objects together of which one is flattened into another. `allOf` cannot say that, because what is
/// flattened may say that it has no further fields.
fn flatten(schemas: &mut Value) {
    let all = schemas.clone();
    for schema in schemas.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        let Some(parts) = schema["allOf"].as_array().cloned() else { continue };
        let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
        for part in &parts {
            let name = part["$ref"].as_str().and_then(|target| target.rsplit('/').next());
            let part = name.map_or(part, |name| &all[name]);
            properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
            required.extend(part["required"].as_array().cloned().unwrap_or_default());
        }
        let description = schema["description"].clone();
        *schema = json!({"type": "object", "properties": properties, "required": required});
        schema["description"] = description;
    }
}

fn json_of(part: impl serde::Serialize) -> Value {
    serde_json::to_value(part).expect("a description is always JSON")
}

/// The document's bytes.
#[derive(Debug, Clone)]
struct Document(Bytes);

/// Answers with the document.
#[utoipa::path(
    get,
    path = "",
    tag = "Service",
    summary = "This document",
    description = "OpenAPI 3.1, generated from the code that answers.",
    responses((status = 200, description = "The document.", body = Object)),
)]
async fn openapi(Extension(Document(text)): Extension<Document>) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text)
}

/// Names the problems that a call is answered with, beside those that every call can have, for the
/// `responses` of its `#[utoipa::path]`:
/// `problems!(JoinProblems: Closed, QueueFull as SERVICE_UNAVAILABLE);`
#[macro_export]
macro_rules! problems {
    ($name:ident: $($code:ident $(as $status:ident)?),+ $(,)?) => {
        enum $name {}

        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<
                String,
                utoipa::openapi::RefOr<utoipa::openapi::response::Response>,
            > {
                $crate::docs::problem_answers(&[$({
                    let code = $crate::problem::Code::$code;
                    let status = code.status();
                    $(let status = { let _ = status; http::StatusCode::$status };)?
                    (code, status)
                }),+])
            }
        }
    };
}
