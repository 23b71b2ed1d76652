//! Signatures of webhooks: `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `t.body`, where the body is
//! what was received, to the byte. Several secrets are good at once, so that one can be replaced.

use aws_lc_rs::hmac;
use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::provider::Forged;

/// Signatures looked at in one header.
const SIGNATURES_MAX: usize = 8;

/// Tells signed webhooks from others.
pub struct Signatures {
    keys: Vec<hmac::Key>,
    tolerance_seconds: u64,
}

impl Signatures {
    /// By any of these secrets, no further from now than the tolerance.
    pub fn new(secrets: &[SecretString], tolerance_seconds: u64) -> Self {
        let key = |secret: &SecretString| {
            hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes())
        };
        Self { keys: secrets.iter().map(key).collect(), tolerance_seconds }
    }

    /// Whether this header signs this body, at this time of the Unix epoch.
    pub fn verify(
        &self,
        header: Option<&HeaderValue>,
        body: &[u8],
        now: u64,
    ) -> Result<(), Forged> {
        let header = header.and_then(|value| value.to_str().ok()).ok_or(Forged::Unsigned)?;
        let (mut time, mut signatures) = (None, Vec::new());
        for part in header.split(',') {
            match part.trim().split_once('=') {
                Some(("t", value)) => time = Some(value),
                Some(("v1", value)) if signatures.len() < SIGNATURES_MAX => {
                    signatures.extend(hex::decode(value));
                }
                _ => {}
            }
        }
        let time = time.ok_or(Forged::Unsigned)?;
        let signed_at: u64 = time.parse().map_err(|_| Forged::Unsigned)?;
        if signatures.is_empty() {
            return Err(Forged::Unsigned);
        }
        let signed = [time.as_bytes(), b".", body].concat();
        // `hmac::verify` compares in constant time.
        let good = self.keys.iter().any(|key| {
            signatures.iter().any(|signature| hmac::verify(key, &signed, signature).is_ok())
        });
        if !good {
            Err(Forged::Signature)
        } else if signed_at.abs_diff(now) > self.tolerance_seconds {
            Err(Forged::Stale)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &[u8] = br#"{"id":"evt_1"}"#;
    const NOW: u64 = 1_700_000_000;

    fn signed(secret: &str, at: u64) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let tag = hmac::sign(&key, &[at.to_string().as_bytes(), b".", BODY].concat());
        format!("t={at},v1={}", hex::encode(tag))
    }

    fn verified(header: &str, body: &[u8]) -> Result<(), Forged> {
        let secrets = ["old-secret".into(), "new-secret".into()];
        let header = HeaderValue::from_str(header).expect("plain ASCII");
        Signatures::new(&secrets, 300).verify(Some(&header), body, NOW)
    }

    #[test]
    fn any_of_the_secrets_is_good_and_no_other() {
        assert_eq!(verified(&signed("old-secret", NOW), BODY), Ok(()));
        assert_eq!(verified(&signed("new-secret", NOW), BODY), Ok(()));
        assert_eq!(verified(&signed("stolen", NOW), BODY), Err(Forged::Signature));
        assert_eq!(verified(&signed("new-secret", NOW), b"{}"), Err(Forged::Signature));
        // While a secret is replaced, the sender signs with both.
        let good = signed("new-secret", NOW);
        let (time, good) = good.split_once(',').expect("a time and a signature");
        assert_eq!(verified(&format!("{time},v1=00ff,{good},v0=1"), BODY), Ok(()));
    }

    #[test]
    fn what_is_old_from_the_future_or_unsigned_is_refused() {
        for at in [NOW - 301, NOW + 301] {
            assert_eq!(verified(&signed("new-secret", at), BODY), Err(Forged::Stale));
        }
        for at in [NOW - 300, NOW + 300] {
            assert_eq!(verified(&signed("new-secret", at), BODY), Ok(()));
        }
        // The time is signed too.
        let moved =
            signed("new-secret", NOW - 301).replace(&(NOW - 301).to_string(), &NOW.to_string());
        assert_eq!(verified(&moved, BODY), Err(Forged::Signature));
        for unsigned in ["", "t=1700000000", "v1=00", "t=x,v1=00", "t=1700000000,v1=zz"] {
            assert_eq!(verified(unsigned, BODY), Err(Forged::Unsigned), "{unsigned:?}");
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic_or_pass(header in "[ -~]{0,200}") {
            prop_assert!(verified(&header, BODY).is_err());
        }
    }
}
