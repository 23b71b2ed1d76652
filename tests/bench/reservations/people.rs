//! Many people who have been let in, and their requests.

use std::sync::atomic::{AtomicUsize, Ordering};

use tests::sale::{claims, sign};
use uuid::Uuid;

pub(crate) const EVENT: &str = "sale";

/// People with admission tokens. Each request is the next one's, so that hardly anybody comes twice.
pub(crate) struct People {
    tokens: Vec<String>,
    next: AtomicUsize,
}

impl People {
    pub(crate) fn admitted(count: usize) -> Self {
        let token = |n| sign(&claims(EVENT, &format!("person-{n:06}")));
        Self { tokens: (0..count).map(token).collect(), next: AtomicUsize::new(0) }
    }

    /// Writes the next one's request for one place.
    pub(crate) fn next_request(&self, sector: &str, request: &mut Vec<u8>) {
        let n = self.next.fetch_add(1, Ordering::Relaxed) % self.tokens.len();
        let body = format!(r#"{{"sector_id":"{sector}","quantity":1}}"#);
        request.clear();
        request.extend_from_slice(
            format!(
                "POST /v1/reservations HTTP/1.1\r\nhost: checkout\r\nauthorization: Bearer {}\r\n\
                 idempotency-key: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                self.tokens[n],
                Uuid::new_v4(),
                body.len()
            )
            .as_bytes(),
        );
    }
}
