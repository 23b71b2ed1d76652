//! A brand's colour, and what can be read on it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An opaque sRGB colour, written `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Color([u8; 3]);

/// The text is no colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a colour is written as in #0a7f5a")]
pub struct InvalidColor;

impl Color {
    /// White.
    pub const WHITE: Self = Self([255; 3]);
    /// Black.
    pub const BLACK: Self = Self([0; 3]);

    /// Black or white, whichever is read better on it: at least 4.5 to 1 on any colour (WCAG 2.2, 1.4.3).
    pub fn ink(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) {
            Self::WHITE
        } else {
            Self::BLACK
        }
    }

    /// The contrast ratio of the two, 1 to 21 (WCAG 2.2).
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The relative luminance, 0 to 1 (WCAG 2.2).
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|value| {
            let share = f64::from(value) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl FromStr for Color {
    type Err = InvalidColor;

    fn from_str(text: &str) -> Result<Self, InvalidColor> {
        let digits = text.strip_prefix('#').ok_or(InvalidColor)?;
        let mut parts = [0; 3];
        hex::decode_to_slice(digits, &mut parts).map_err(|_| InvalidColor)?;
        Ok(Self(parts))
    }
}

impl TryFrom<String> for Color {
    type Error = InvalidColor;

    fn try_from(text: String) -> Result<Self, InvalidColor> {
        text.parse()
    }
}

impl From<Color> for String {
    fn from(color: Color) -> Self {
        color.to_string()
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ink_can_be_read_on_every_colour() {
        for red in (0..=255).step_by(5) {
            for green in (0..=255).step_by(5) {
                for blue in (0..=255).step_by(5) {
                    let color = Color([red, green, blue]);
                    assert!(color.contrast(color.ink()) >= 4.5, "{color}");
                }
            }
        }
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        assert!((Color::BLACK.contrast(Color::WHITE) - 21.0).abs() < 1e-9);
        // The well-known lightest grey that still reads on white.
        let grey: Color = "#767676".parse().expect("a colour");
        assert!((grey.contrast(Color::WHITE) - 4.54).abs() < 0.01);
    }
}
