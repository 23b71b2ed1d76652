//! The secret that the shop knows its messages by, as Standard Webhooks writes it.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What is in front of the base64.
const PREFIX: &str = "whsec_";
/// Bytes of a secret, as the standard bounds them.
const LENGTH: RangeInclusive<usize> = 24..=64;

/// A key for HMAC-SHA-256: `whsec_` and 24 to 64 bytes in base64. Never printed.
#[derive(Clone)]
pub struct WebhookSecret(hmac::Key);

impl WebhookSecret {
    /// The signature of a message, as it stands in the header: `v1,` and base64.
    pub fn signature(&self, id: &str, unix_seconds: u64, body: &str) -> String {
        let signed = format!("{id}.{unix_seconds}.{body}");
        format!("v1,{}", STANDARD.encode(hmac::sign(&self.0, signed.as_bytes())))
    }
}

impl FromStr for WebhookSecret {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().strip_prefix(PREFIX).map(|text| STANDARD.decode(text)) {
            Some(Ok(bytes)) if LENGTH.contains(&bytes.len()) => {
                Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
            }
            _ => Err("must be whsec_ and 24 to 64 bytes in base64"),
        }
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the test of the standard's own libraries.
    #[test]
    fn a_message_is_signed_as_the_standard_says() {
        let secret: WebhookSecret =
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().expect("24 bytes");
        let signature = secret.signature(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
    }

    #[test]
    fn a_weak_or_malformed_secret_is_refused() {
        for bad in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%%"]
        {
            assert!(bad.parse::<WebhookSecret>().is_err(), "{bad}");
        }
    }
}
