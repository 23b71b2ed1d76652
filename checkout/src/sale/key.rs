//! The `Idempotency-Key` of a request.

use std::sync::Arc;

/// Longest key, in bytes.
const BYTES_MAX: usize = 255;

/// A key for one request, the client's own or one of ours: 1 to 255 visible ASCII characters. Cheap
/// to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(Arc<str>);

impl IdempotencyKey {
    /// Reads a header's value: the key as it is, or as a quoted string of RFC 8941 (what the IETF
    /// draft asks for). Both forms of a key are the same key.
    pub fn parse(header: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(header).ok()?.trim_matches([' ', '\t']);
        let key: Arc<str> = match text.strip_prefix('"') {
            Some(rest) => unquoted(rest)?.into(),
            None => text.into(),
        };
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        ((1..=BYTES_MAX).contains(&key.len()) && visible).then_some(Self(key))
    }

    /// The key, without quotes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The rest of a quoted string after its first quote. Only quotes and backslashes are escaped, and
/// nothing may follow the last quote.
fn unquoted(rest: &str) -> Option<String> {
    let mut key = String::with_capacity(rest.len());
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(key),
            '\\' => key.push(characters.next().filter(|next| matches!(next, '"' | '\\'))?),
            other => key.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(header: &str) -> Option<String> {
        IdempotencyKey::parse(header.as_bytes()).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        let long = "x".repeat(256);
        let quoted_long = format!("\"{long}\"");
        for bad in [
            "",
            " ",
            "a b",
            "\"",
            "\"\"",
            "\"a",
            "\"a\"b",
            "\"a\";p=1",
            "\"a\\n\"",
            "\"a\\",
            "\"a b\"",
            "é",
            "a\tb",
            "\u{7f}",
            &long,
            &quoted_long,
        ] {
            assert_eq!(parsed(bad), None, "{bad:?}");
        }
        assert_eq!(IdempotencyKey::parse(b"\xff\xfe"), None);
    }

    #[test]
    fn a_key_may_be_255_characters_and_have_quotes_inside() {
        assert_eq!(parsed(&"x".repeat(255)), Some("x".repeat(255)));
        assert_eq!(parsed("a\"b").as_deref(), Some("a\"b"));
        assert_eq!(parsed("\"a\\\"b\\\\\"").as_deref(), Some("a\"b\\"));
    }

    proptest! {
        #[test]
        fn bare_and_quoted_are_the_same_key(key in "[!#-~][!-~]{0,254}") {
            let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(parsed(&key), Some(key.clone()));
            prop_assert_eq!(parsed(&format!("\"{escaped}\"")), Some(key));
        }

        #[test]
        fn no_header_makes_it_panic(header in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = IdempotencyKey::parse(&header);
        }
    }
}
