//! What a window looks like.

/// Size, colours, language and whether scripts run.
#[derive(Debug, Clone)]
pub struct Look {
    /// In CSS pixels.
    pub width: u32,
    /// In CSS pixels.
    pub height: u32,
    /// Whether the person prefers dark colours.
    pub dark: bool,
    /// Whether JavaScript runs.
    pub javascript: bool,
    /// Whether cookies are kept.
    pub cookies: bool,
    /// As in `Accept-Language`: `en-US`, `de,en`.
    pub language: &'static str,
}

impl Look {
    /// A desktop screen, light, English.
    #[must_use]
    pub fn desktop() -> Self {
        Self {
            width: 1280,
            height: 860,
            dark: false,
            javascript: true,
            cookies: true,
            language: "en-US",
        }
    }

    /// A phone.
    #[must_use]
    pub fn phone() -> Self {
        Self { width: 390, height: 844, ..Self::desktop() }
    }

    /// The narrowest screen that WCAG 2.2 asks for (1.4.10: 320 CSS pixels).
    #[must_use]
    pub fn narrow() -> Self {
        Self { width: 320, height: 640, ..Self::desktop() }
    }

    /// The same in dark colours.
    #[must_use]
    pub fn dark(self) -> Self {
        Self { dark: true, ..self }
    }

    /// The same without JavaScript.
    #[must_use]
    pub fn without_javascript(self) -> Self {
        Self { javascript: false, ..self }
    }

    /// The same with all cookies blocked.
    #[must_use]
    pub fn without_cookies(self) -> Self {
        Self { cookies: false, ..self }
    }

    /// The same in another language.
    #[must_use]
    pub fn in_language(self, language: &'static str) -> Self {
        Self { language, ..self }
    }
}
