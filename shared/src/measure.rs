//! Counts and times of requests by route.
//!
//! A metric's handle is found once for each thread and kind of answer, since looking it up by its labels
//! costs as much as a good part of an answer from memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use axum::extract::MatchedPath;
use http::{Method, StatusCode};
use metrics::{Counter, Histogram};

/// The route of a request that none matches.
pub(crate) const UNMATCHED: &str = "unmatched";

struct Handles {
    method: Method,
    status: StatusCode,
    count: Counter,
    duration: Histogram,
}

thread_local! {
    // By route, and there are few of those; a route has few methods and answers.
    static HANDLES: RefCell<HashMap<String, Vec<Handles>>> = RefCell::default();
}

/// Notes one answer.
pub(crate) fn note(
    method: &Method,
    route: Option<&MatchedPath>,
    status: StatusCode,
    took: Duration,
) {
    let (method, route) = (known(method), route.map_or(UNMATCHED, MatchedPath::as_str));
    HANDLES.with_borrow_mut(|by_route| {
        if !by_route.contains_key(route) {
            by_route.insert(route.to_owned(), Vec::new());
        }
        let Some(handles) = by_route.get_mut(route) else { return };
        let found = handles.iter().find(|found| found.status == status && found.method == method);
        match found {
            Some(found) => found.note(took),
            None => {
                let new = Handles::new(method, route, status);
                new.note(took);
                handles.push(new);
            }
        }
    });
}

/// A client may make methods up, and each would be a metric of its own for ever: they count as TRACE, which
/// nothing here answers either, under the name `other`.
fn known(method: &Method) -> Method {
    match *method {
        Method::GET | Method::HEAD | Method::OPTIONS => method.clone(),
        Method::POST | Method::PUT | Method::PATCH | Method::DELETE => method.clone(),
        _ => Method::TRACE,
    }
}

impl Handles {
    fn new(method: Method, route: &str, status: StatusCode) -> Self {
        let name = if method == Method::TRACE { "other" } else { method.as_str() }.to_owned();
        let (route, code) = (route.to_owned(), status.as_str().to_owned());
        let count = metrics::counter!(
            "http_requests_total", "method" => name.clone(), "route" => route.clone(), "status" => code
        );
        let duration = metrics::histogram!(
            "http_request_duration_seconds", "method" => name, "route" => route
        );
        Self { method, status, count, duration }
    }

    fn note(&self, took: Duration) {
        self.count.increment(1);
        self.duration.record(took);
    }
}
