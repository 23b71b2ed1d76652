//! An event's colour and logo: what may be set, and which text is read on it (WCAG 2.2, 1.4.3 and 1.4.11).

/// Longest address of a logo.
const URL_CHARS_MAX: usize = 2_000;

/// A colour of the sRGB space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour([u8; 3]);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self([0; 3]);
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// From `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#')?;
        let mut parts = [0; 3];
        hex::decode_to_slice(digits, &mut parts).ok()?;
        Some(Self(parts))
    }

    /// As `#rrggbb`.
    pub fn css(self) -> String {
        format!("#{}", hex::encode(self.0))
    }

    /// Black or white, whichever stands out more; one of them always has at least 4.58 : 1.
    pub fn ink(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) {
            Self::WHITE
        } else {
            Self::BLACK
        }
    }

    /// This colour, moved towards black or white as little as it takes to have a contrast of 4.5 : 1
    /// with the ground.
    #[must_use]
    pub fn readable_on(self, ground: Self) -> Self {
        let ink = ground.ink();
        (0..=20)
            .map(|step| self.mixed(ink, step, 20))
            .find(|mixed| mixed.contrast(ground) >= 4.5)
            .unwrap_or(ink)
    }

    /// The contrast ratio of WCAG 2, 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn mixed(self, other: Self, part: u16, of: u16) -> Self {
        let mut parts = self.0;
        for (mine, theirs) in parts.iter_mut().zip(other.0) {
            let sum = u16::from(*mine) * (of - part) + u16::from(theirs) * part;
            *mine = u8::try_from(sum / of).unwrap_or(u8::MAX);
        }
        Self(parts)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

/// The origin of an https address, in letters that a Content-Security-Policy can carry; `None` when it is
/// no such address.
pub fn secure_origin(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_host = !host.is_empty()
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':'));
    let fits = url.len() <= URL_CHARS_MAX && url.parse::<http::Uri>().is_ok();
    (is_host && fits).then(|| format!("https://{host}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_contrast_is_that_of_the_standard() {
        assert!((Colour::BLACK.contrast(Colour::WHITE) - 21.0).abs() < 1e-9);
        // The grey that is known for being just readable on white.
        let grey = Colour::parse("#767676").expect("a colour");
        assert!((grey.contrast(Colour::WHITE) - 4.54).abs() < 0.01);
        assert_eq!(Colour::parse("#ffee00").map(Colour::ink), Some(Colour::BLACK));
        assert_eq!(Colour::parse("#123456").map(Colour::ink), Some(Colour::WHITE));
    }

    #[test]
    fn only_six_hex_digits_are_a_colour() {
        for bad in ["", "#fff", "red", "#12345g", "#1234567", "123456", "#12345;"] {
            assert_eq!(Colour::parse(bad), None, "{bad}");
        }
        assert_eq!(Colour::parse("#A1b2C3").map(Colour::css).as_deref(), Some("#a1b2c3"));
    }

    #[test]
    fn a_logo_is_an_https_address_and_says_its_origin() {
        let origin = secure_origin("https://shop.example:8443/logo.svg?v=1");
        assert_eq!(origin.as_deref(), Some("https://shop.example:8443"));
        for bad in
            ["http://shop.example/", "//shop.example", "https://", "https://a@b/", "https://a;b/"]
        {
            assert_eq!(secure_origin(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_on_any_colour_can_be_read(parts: [u8; 3], ground: [u8; 3]) {
            let (colour, ground) = (Colour(parts), Colour(ground));
            prop_assert!(colour.contrast(colour.ink()) >= 4.5);
            prop_assert!(colour.readable_on(ground).contrast(ground) >= 4.5);
        }
    }
}
