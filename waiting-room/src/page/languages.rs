//! The page's languages, one file each under `assets/languages`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::accept;

/// A language's texts by their keys.
pub type Texts = BTreeMap<String, String>;

/// One language.
#[derive(Debug)]
pub struct Language {
    /// As in `lang`: `pt-BR`.
    pub tag: &'static str,
    /// All that the page says, in it.
    pub texts: Texts,
}

macro_rules! languages {
    ($($tag:literal),*) => {
        &[$(($tag, include_str!(concat!("../assets/languages/", $tag, ".json")))),*]
    };
}

/// The first one is for whoever reads none of them.
const FILES: &[(&str, &str)] =
    languages!("en", "es", "fr", "de", "pt-BR", "ja", "ko", "zh-Hans", "id", "ar");

/// All of them, in the order in which they are offered.
pub static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let read = |&(tag, file)| Language {
        tag,
        texts: serde_json::from_str(file).expect("our own files, which a test reads, are JSON"),
    };
    FILES.iter().map(read).collect()
});

/// The language that somebody has chosen, on the page or before, or that his browser asks for.
pub fn language(
    chosen: Option<&str>,
    remembered: Option<&str>,
    accepted: Option<&str>,
) -> &'static Language {
    let tags: Vec<&str> = FILES.iter().map(|(tag, _)| *tag).collect();
    let tag = chosen
        .and_then(|tag| accept::matching(tag, &tags))
        .or_else(|| remembered.and_then(|tag| accept::matching(tag, &tags)))
        .or_else(|| accepted.and_then(|header| accept::best(header, &tags)));
    let found = LANGUAGES.iter().find(|language| Some(language.tag) == tag);
    found.unwrap_or(&LANGUAGES[0])
}

impl Language {
    /// A text; its own key where there is none, which a test rules out.
    pub fn text<'a>(&'a self, key: &'a str) -> &'a str {
        self.texts.get(key).map_or(key, String::as_str)
    }

    /// A text with `{name}` filled in.
    pub fn filled(&self, key: &str, name: &str, value: &str) -> String {
        self.text(key).replace(&format!("{{{name}}}"), value)
    }

    /// A number, with its thousands apart.
    pub fn figure(&self, number: u64) -> String {
        let digits = number.to_string();
        let mut figure = String::new();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                figure.push_str(self.text("thousands"));
            }
            figure.push(digit);
        }
        figure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placeholders(text: &str) -> Vec<&str> {
        let mut found: Vec<&str> =
            text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn every_language_says_everything_and_fills_in_the_same() {
        let english = &LANGUAGES[0];
        assert!(english.texts.len() > 80);
        for language in LANGUAGES.iter() {
            let keys: Vec<_> = language.texts.keys().collect();
            assert_eq!(keys, english.texts.keys().collect::<Vec<_>>(), "{}", language.tag);
            for (key, text) in &language.texts {
                assert!(!text.is_empty(), "{}: {key}", language.tag);
                assert_eq!(
                    placeholders(text),
                    placeholders(&english.texts[key]),
                    "{}: {key}",
                    language.tag
                );
            }
            let direction = if language.tag == "ar" { "rtl" } else { "ltr" };
            assert_eq!(language.text("dir"), direction);
        }
    }

    #[test]
    fn no_sentence_is_left_in_english() {
        for language in &LANGUAGES[1..] {
            let same = language
                .texts
                .iter()
                .filter(|(key, text)| text.len() > 12 && LANGUAGES[0].texts[*key] == **text);
            assert_eq!(same.count(), 0, "{}", language.tag);
        }
    }

    #[test]
    fn a_choice_counts_more_than_what_was_remembered_and_that_more_than_the_header() {
        assert_eq!(language(Some("ja"), Some("de"), Some("fr")).tag, "ja");
        assert_eq!(language(Some("xx"), Some("de"), Some("fr")).tag, "de");
        assert_eq!(language(None, None, Some("fr-CA")).tag, "fr");
        assert_eq!(language(None, None, None).tag, "en");
    }

    #[test]
    fn figures_have_their_thousands_apart() {
        let english = &LANGUAGES[0];
        assert_eq!(english.figure(0), "0");
        assert_eq!(english.figure(999), "999");
        assert_eq!(english.figure(1_000), "1,000");
        assert_eq!(language(Some("de"), None, None).figure(1_234_567), "1.234.567");
    }
}
