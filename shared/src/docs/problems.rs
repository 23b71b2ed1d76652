//! How problems stand in the document: one answer a status, with the codes it can have.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::response::Response;

use crate::problem::{self, Code, Problem};

/// The answers of these codes, by status.
///
/// # Panics
/// Never: what is read back was written here.
pub fn problem_answers(codes: &[(Code, StatusCode)]) -> BTreeMap<String, RefOr<Response>> {
    let mut responses = json!({});
    for (code, status) in codes {
        add(&mut responses, *code, *status);
    }
    serde_json::from_value(responses).expect("these are responses")
}

/// Adds a code to the answers of its status.
pub(super) fn add(responses: &mut Value, code: Code, status: StatusCode) {
    let response = &mut responses[status.as_str()];
    let title = format!("`{}`: {}.", code.as_str(), code.title());
    match response.get("description").and_then(Value::as_str) {
        Some(before) if before.contains(&title) => return,
        Some(before) => response["description"] = format!("{before} {title}").into(),
        None => response["description"] = title.into(),
    }
    for (header, about) in headers(code) {
        response["headers"][header] = json!({"description": about, "schema": {"type": "string"}});
    }
    let content = &mut response["content"]["application/problem+json"];
    if content.is_null() {
        let problem = format!("#/components/schemas/{}", problem::SCHEMA_NAME);
        let codes =
            json!({"type": "object", "properties": {"code": {"type": "string", "enum": []}}});
        *content = json!({"schema": {"allOf": [{"$ref": problem}, codes]}, "examples": {}});
    }
    let example = Problem::new(code, format!("{}.", code.title())).with_status(status);
    let body: Value = serde_json::from_str(&example.body()).unwrap_or_default();
    content["examples"][code.as_str()] = json!({"value": body});
    if let Some(codes) = content["schema"]["allOf"][1]["properties"]["code"]["enum"].as_array_mut()
    {
        codes.push(code.as_str().into());
    }
}

fn headers(code: Code) -> &'static [(&'static str, &'static str)] {
    match code {
        Code::RateLimited | Code::QueueFull | Code::Unavailable | Code::Draining => {
            &[("Retry-After", "When to try again, in whole seconds, at least 1.")]
        }
        Code::NotReady => {
            &[("Retry-After", "Who has been called: when to try again, in whole seconds.")]
        }
        Code::InvalidToken => &[("WWW-Authenticate", "`Bearer`")],
        _ => &[],
    }
}
