//! The waiting page in its languages.

use tests::browser::{Browser, Look};

use crate::page::{Concert, busy, fits, shows};

const LANGUAGES: [(&str, &str); 10] = [
    ("en", "You are in the queue"),
    ("es", "Estás en la cola"),
    ("fr", "Vous êtes dans la file"),
    ("de", "Sie sind in der Warteschlange"),
    ("pt-BR", "Você está na fila"),
    ("ja", "列に並んでいます"),
    ("ko", "대기열에 있습니다"),
    ("zh-Hans", "您正在排队"),
    ("id", "Anda sedang mengantre"),
    ("ar", "أنت في الطابور"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_language_can_be_chosen_and_has_all_its_words() {
    let concert = Concert::with_queue(busy(), 12).await;
    let browser = concert.open(Look::desktop()).await;
    for (tag, headline) in LANGUAGES {
        browser.click(".languages summary").await;
        browser.click(&format!(".languages a[lang='{tag}']")).await;
        browser.find(&format!("html[lang='{tag}'] main[data-state=waiting]")).await;
        browser.sees("h1", headline).await;
        let page = browser.text("body").await;
        for missing in ["undefined", "_title", "_text", "{time}", "{n}", "{duration}", "none"] {
            assert!(!page.contains(missing), "{tag}: {missing} in {page}");
        }
        fits(&browser, Look::desktop()).await;
        // The choice is remembered.
        browser.goto(&concert.url()).await;
        browser.sees("h1", headline).await;
    }
    assert_eq!(concert.last_number().await, 14);
}

#[tokio::test(flavor = "multi_thread")]
async fn arabic_is_read_from_right_to_left() {
    let concert = Concert::with_queue(busy(), 12).await;
    let look = Look::phone().in_language("ar,en");
    let browser: Browser = concert.open(look.clone()).await;
    shows(&browser, "waiting").await;
    browser.find("html[lang=ar][dir=rtl]").await;
    browser.sees("h1", "أنت في الطابور").await;
    let side = "return document.getElementById('number').getBoundingClientRect().left > \
                document.getElementById('wait').getBoundingClientRect().left ? 'ltr' : 'rtl'";
    assert_eq!(browser.script(side).await, "rtl");
    browser.is_accessible(look).await;
    browser.screenshot("page-arabic").await;
}
