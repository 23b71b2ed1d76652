//! `Accept-Language` (RFC 9110, 12.5.4): which of our languages somebody reads best.

/// The best of ours for this header; `None` when it names none of them.
pub(crate) fn best<'a>(header: &str, ours: &[&'a str]) -> Option<&'a str> {
    let mut wanted: Vec<(u16, &str)> = header.split(',').filter_map(weighed).collect();
    // Stable: of two that are wanted as much, the one that is named first.
    wanted.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    wanted
        .into_iter()
        .filter(|(weight, _)| *weight > 0)
        .find_map(|(_, range)| matching(range, ours))
}

/// One of ours for this range, as exact as there is one: `de-AT` is read by whoever reads `de`, `pt` by whoever
/// reads `pt-BR`.
pub(crate) fn matching<'a>(range: &str, ours: &[&'a str]) -> Option<&'a str> {
    let mut parts = range.split('-');
    let primary = parts.next()?;
    let is_primary = |tag: &&&str| {
        tag.split('-').next().is_some_and(|first| first.eq_ignore_ascii_case(primary))
    };
    if primary.eq_ignore_ascii_case("zh") && parts.any(is_traditional) {
        return None;
    }
    let exact = ours.iter().find(|tag| tag.eq_ignore_ascii_case(range));
    exact.or_else(|| ours.iter().find(is_primary)).copied()
}

/// Chinese that is written in the other script: whoever reads it is better served by his next language.
fn is_traditional(part: &str) -> bool {
    ["Hant", "TW", "HK", "MO"].iter().any(|other| part.eq_ignore_ascii_case(other))
}

/// A range and its weight in thousandths; 1,000 when none is given.
fn weighed(item: &str) -> Option<(u16, &str)> {
    let mut parts = item.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let weight = match parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q="))) {
        Some(weight) => thousandths(weight)?,
        None => 1_000,
    };
    Some((weight, range))
}

/// `0.85` → 850.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, rest) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(whole, "0" | "1") || rest.len() > 3 || !digits(rest) {
        return None;
    }
    let value = whole.parse::<u16>().ok()? * 1_000 + format!("{rest:0<3}").parse::<u16>().ok()?;
    (value <= 1_000).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OURS: [&str; 6] = ["en", "de", "pt-BR", "zh-Hans", "id", "ar"];

    #[test]
    fn the_language_that_is_wanted_most_and_spoken_here() {
        for (header, expected) in [
            ("de", Some("de")),
            ("de-AT, en;q=0.8", Some("de")),
            ("en;q=0.5, de;q=0.9", Some("de")),
            ("en;q=0.50,de;q=0.501", Some("de")),
            ("nl, de;q=0.3, en;q=0.2", Some("de")),
            ("de;q=0, en;q=0.1", Some("en")),
            ("EN-us", Some("en")),
            ("pt", Some("pt-BR")),
            ("pt-PT, en;q=0.9", Some("pt-BR")),
            ("zh-CN", Some("zh-Hans")),
            ("zh-Hans-SG", Some("zh-Hans")),
            ("zh", Some("zh-Hans")),
            ("zh-TW, en;q=0.5", Some("en")),
            ("zh-Hant-HK", None),
            ("ar-EG", Some("ar")),
            ("en, de", Some("en")),
            ("nl, fi", None),
            ("*", None),
            ("", None),
            (";q=1, ,, de;q=2, ar;q=x", None),
        ] {
            assert_eq!(best(header, &OURS), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read(header in ".{0,200}") {
            let chosen = best(&header, &OURS);
            prop_assert!(chosen.is_none_or(|tag| OURS.contains(&tag)));
        }
    }
}
