//! How the sandbox misbehaves. A number is how many of the next calls are concerned.

use serde::{Deserialize, Serialize};

/// All switches. In a PATCH, what is left out stays as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Milliseconds before anything is done.
    pub latency_ms: u64,
    /// Orders that are refused with 503 before anything is done.
    pub unavailable: u32,
    /// Orders that are done and never answered.
    pub timeout_after_success: u32,
    /// Orders that are done and answered with 500.
    pub broken_answers: u32,
    /// Charges that are declined.
    pub declines: u32,
    /// Charges that stay `processing` until they are completed.
    pub processing: u32,
    /// Refunds that are refused.
    pub refund_failures: u32,
    /// Questions for an operation that are answered with 503.
    pub look_up_failures: u32,
    /// Whether webhooks are sent.
    pub webhooks: bool,
    /// How often each is sent besides the first time.
    pub duplicate_webhooks: u32,
    /// Milliseconds before one is sent.
    pub webhook_delay_ms: u64,
    /// Whether an order is answered only after its webhook was delivered.
    pub webhook_before_answer: bool,
    /// Where webhooks are sent.
    pub webhook_url: Option<String>,
    /// What they are signed with, instead of the secret that it was started with.
    #[serde(skip_serializing)]
    pub webhook_secret: Option<String>,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            latency_ms: 0,
            unavailable: 0,
            timeout_after_success: 0,
            broken_answers: 0,
            declines: 0,
            processing: 0,
            refund_failures: 0,
            look_up_failures: 0,
            webhooks: true,
            duplicate_webhooks: 0,
            webhook_delay_ms: 0,
            webhook_before_answer: false,
            webhook_url: None,
            webhook_secret: None,
        }
    }
}

/// Whether one of the next calls is concerned, which it then was.
pub(crate) fn used(count: &mut u32) -> bool {
    let concerned = *count > 0;
    *count = count.saturating_sub(1);
    concerned
}
