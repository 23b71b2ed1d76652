//! Keys and tokens as they come from the environment: checked for strength, never printed.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq;

/// A bearer token that a caller must present. At least 16 visible ASCII characters.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl BearerToken {
    /// Whether the presented token is this one; takes the same time wherever they differ.
    pub fn matches(&self, presented: &str) -> bool {
        self.0.as_bytes().ct_eq(presented.as_bytes()).into()
    }

    /// The token's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl FromStr for BearerToken {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.to_owned()))
        } else {
            Err("must be at least 16 visible ASCII characters")
        }
    }
}

/// A key for HMAC-SHA-256, written as hex. At least 32 bytes, as RFC 7518 §3.2 asks for HS256.
#[derive(Clone, PartialEq, Eq)]
pub struct HmacKey(Vec<u8>);

impl HmacKey {
    /// The key's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for HmacKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match hex::decode(text) {
            Ok(bytes) if bytes.len() >= 32 => Ok(Self(bytes)),
            _ => Err("must be at least 64 hex digits (32 bytes)"),
        }
    }
}

macro_rules! never_printed {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    };
}

never_printed!(BearerToken);
never_printed!(HmacKey);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_secrets_are_refused_and_strong_ones_never_printed() {
        assert!("short".parse::<BearerToken>().is_err());
        assert!("a token with blanks".parse::<BearerToken>().is_err());
        assert!("00ff".parse::<HmacKey>().is_err());
        assert!("zz".repeat(32).parse::<HmacKey>().is_err());
        assert!("+f".repeat(32).parse::<HmacKey>().is_err());

        let token: BearerToken = "correct-horse-battery".parse().expect("long enough");
        assert!(token.matches("correct-horse-battery"));
        assert!(!token.matches("correct-horse-batterx"));
        assert!(!token.matches(""));
        assert_eq!(format!("{token:?}"), "BearerToken(…)");
        let key: HmacKey = "0a".repeat(32).parse().expect("32 bytes");
        assert_eq!(key.as_bytes(), [10; 32]);
    }
}
