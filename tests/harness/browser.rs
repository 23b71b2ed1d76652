//! A real browser: headless Chromium through chromedriver, one of its own for each test.
//!
//! `STANCHION_SCREENSHOTS=DIRECTORY` makes [`Browser::screenshot`] write there; the pictures in the
//! documentation are made so.

mod axe;
mod look;

use std::path::PathBuf;

use local::leash::{Launch, Leash};
use local::ports;
use serde_json::{Value, json};
use thirtyfour::{By, ChromeCapabilities, ChromiumLikeCapabilities, WebDriver, WebElement};
use tokio::sync::{Semaphore, SemaphorePermit};

pub use look::Look;

use crate::{stores, wait};

/// Browsers at once: each is several busy processes.
static BROWSERS: Semaphore = Semaphore::const_new(2);

/// An open browser window; closed when it is dropped.
pub struct Browser {
    /// For what is not offered here.
    pub driver: WebDriver,
    // Dropped after the session, which is ended through it.
    _chromedriver: Leash,
    _turn: SemaphorePermit<'static>,
}

impl Browser {
    /// A window that looks so.
    ///
    /// # Panics
    /// When Chromium or chromedriver is missing or does not start.
    pub async fn open(look: Look) -> Self {
        let turn = BROWSERS.acquire().await.expect("never closed");
        let port = ports::free().expect("loopback has free ports");
        let launch = Launch::new("chromedriver", "chromedriver").args([format!("--port={port}")]);
        let chromedriver = Leash::spawn(&launch).expect("chromedriver is installed");
        let capabilities = capabilities(&look);
        let url = format!("http://127.0.0.1:{port}");
        let driver = wait::until("chromedriver", async || {
            assert!(chromedriver.is_running(), "chromedriver ended");
            WebDriver::new(&url, capabilities.clone()).await.ok()
        })
        .await;
        let browser = Self { driver, _chromedriver: chromedriver, _turn: turn };
        browser.show(&look).await;
        browser
    }

    /// Changes the size of the screen and the colours; language and JavaScript stay as they were
    /// when the window was opened.
    pub async fn show(&self, look: &Look) {
        let screen = json!({
            "width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": look.width < 600,
        });
        self.cdp("Emulation.setDeviceMetricsOverride", screen).await;
        let colours = if look.dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": colours }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        let scripts = json!({ "value": !look.javascript });
        self.cdp("Emulation.setScriptExecutionDisabled", scripts).await;
    }

    /// Opens an address, as if it had been typed.
    ///
    /// # Panics
    /// When it does not load.
    pub async fn goto(&self, url: &str) {
        self.driver.goto(url).await.expect("the page loads");
    }

    /// The address that is shown.
    ///
    /// # Panics
    /// When the browser has gone.
    pub async fn url(&self) -> String {
        self.driver.current_url().await.expect("a window").to_string()
    }

    /// The first element that is shown and matches a CSS selector, as soon as there is one.
    pub async fn find(&self, css: &str) -> WebElement {
        wait::until(css, async || {
            for element in self.driver.find_all(By::Css(css)).await.ok()? {
                if element.is_displayed().await.unwrap_or(false) {
                    return Some(element);
                }
            }
            None
        })
        .await
    }

    /// Whether such an element is shown now.
    pub async fn shows(&self, css: &str) -> bool {
        for element in self.driver.find_all(By::Css(css)).await.unwrap_or_default() {
            if element.is_displayed().await.unwrap_or(false) {
                return true;
            }
        }
        false
    }

    /// The text that a person sees in it.
    pub async fn text(&self, css: &str) -> String {
        wait::until(css, async || self.find(css).await.text().await.ok()).await
    }

    /// Waits until its text contains `part`.
    pub async fn sees(&self, css: &str, part: &str) {
        wait::until(&format!("{css} to say {part:?}"), async || {
            let element = self.driver.find(By::Css(css)).await.ok()?;
            element.text().await.ok()?.contains(part).then_some(())
        })
        .await;
    }

    /// Clicks it, as soon as it can be clicked.
    pub async fn click(&self, css: &str) {
        wait::until(&format!("{css} to be clickable"), async || {
            self.find(css).await.click().await.ok()
        })
        .await;
    }

    /// Presses keys, wherever the focus is: `"\u{e004}"` is Tab, `"\u{e007}"` is Enter, as WebDriver names them.
    ///
    /// # Panics
    /// When the browser has gone.
    pub async fn press(&self, keys: &str) {
        self.driver.action_chain().send_keys(keys).perform().await.expect("keys are pressed");
    }

    /// Asserts that nothing has to be scrolled to from side to side.
    ///
    /// # Panics
    /// With how wide the page is.
    pub async fn fits(&self) {
        let widths =
            "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]";
        let widths = self.script(widths).await;
        assert!(widths[0].as_u64() <= widths[1].as_u64(), "wider than the window: {widths}");
    }

    /// Runs a script in the page (the body of a function, which may `return`).
    ///
    /// # Panics
    /// When it throws.
    pub async fn script(&self, script: &str) -> Value {
        self.driver.execute(script, vec![]).await.expect("the script runs").json().clone()
    }

    /// The same for one that is done later: it calls its last argument with what it has come to.
    ///
    /// # Panics
    /// When it throws.
    pub async fn script_async(&self, script: &str) -> Value {
        self.driver.execute_async(script, vec![]).await.expect("the script runs").json().clone()
    }

    /// Puts a text into a field, instead of what is in it.
    pub async fn enter(&self, css: &str, text: &str) {
        wait::until(&format!("{css} to take a text"), async || {
            let field = self.find(css).await;
            field.clear().await.ok()?;
            field.send_keys(text).await.ok()
        })
        .await;
    }

    /// One command of the Chrome DevTools Protocol.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn cdp(&self, method: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(method, parameters).await.expect(method)
    }

    /// Writes a picture of the window, `NAME.png`, where one is wanted.
    ///
    /// # Panics
    /// When it cannot be written.
    pub async fn screenshot(&self, name: &str) {
        let Some(directory) = screenshots() else { return };
        std::fs::create_dir_all(&directory).expect("a directory for pictures");
        let file = directory.join(format!("{name}.png"));
        self.driver.screenshot(&file).await.expect("a picture is written");
    }
}

fn screenshots() -> Option<PathBuf> {
    std::env::var_os("STANCHION_SCREENSHOTS").map(PathBuf::from)
}

fn capabilities(look: &Look) -> ChromeCapabilities {
    let profile = stores::scratch();
    let mut capabilities = ChromeCapabilities::new();
    let arguments = [
        "--headless".to_owned(),
        // Tests may run as root, where Chromium has no sandbox; it opens our own pages only.
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-quic".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--hide-scrollbars".to_owned(),
        format!("--lang={}", look.language),
        format!("--user-data-dir={}", profile.display()),
    ];
    for argument in arguments {
        capabilities.add_arg(&argument).expect("an argument is a string");
    }
    let mut preferences = json!({ "intl.accept_languages": look.language });
    if !look.cookies {
        preferences["profile.default_content_setting_values.cookies"] = 2.into();
    }
    capabilities.add_experimental_option("prefs", preferences).expect("preferences are JSON");
    capabilities
}
