//! What the page shows in which state, for the template. The page's script does the same (`room/view.js`).

use serde::Serialize;
use serde_json::Value;

use super::{Language, Texts};

/// What somebody sees, named as in the texts (`ready_title`, `ready_text`) and in the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is said by its text")]
pub enum State {
    Welcome,
    Scheduled,
    PreQueue,
    Waiting,
    Paused,
    Ready,
    Passthrough,
    Admitted,
    Missed,
    Over,
    SoldOut,
    Closed,
    Draining,
    Off,
    Full,
    Busy,
    Unavailable,
    Invite,
    SignIn,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Welcome,
        Self::Scheduled,
        Self::PreQueue,
        Self::Waiting,
        Self::Paused,
        Self::Ready,
        Self::Passthrough,
        Self::Admitted,
        Self::Missed,
        Self::Over,
        Self::SoldOut,
        Self::Closed,
        Self::Draining,
        Self::Off,
        Self::Full,
        Self::Busy,
        Self::Unavailable,
        Self::Invite,
        Self::SignIn,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Welcome => "welcome",
            Self::Scheduled => "scheduled",
            Self::PreQueue => "pre_queue",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Ready => "ready",
            Self::Passthrough => "passthrough",
            Self::Admitted => "admitted",
            Self::Missed => "missed",
            Self::Over => "over",
            Self::SoldOut => "sold_out",
            Self::Closed => "closed",
            Self::Draining => "draining",
            Self::Off => "off",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Unavailable => "unavailable",
            Self::Invite => "invite",
            Self::SignIn => "sign_in",
        }
    }

    /// Which button is there.
    fn action(self) -> Option<&'static str> {
        match self {
            Self::Welcome
            | Self::Invite
            | Self::Over
            | Self::Full
            | Self::Busy
            | Self::Unavailable => Some("join"),
            Self::Ready | Self::Passthrough | Self::Admitted => Some("enter"),
            Self::Missed => Some("back"),
            _ => None,
        }
    }

    /// Whether somebody here has a place that he may give up.
    fn may_leave(self) -> bool {
        matches!(self, Self::PreQueue | Self::Waiting | Self::Paused | Self::Ready | Self::Missed)
    }

    /// Whether there is nothing to wait for here, so that the way back to the shop is shown.
    pub fn leads_back(self) -> bool {
        matches!(
            self,
            Self::Over
                | Self::SoldOut
                | Self::Closed
                | Self::Draining
                | Self::Off
                | Self::Full
                | Self::SignIn
        )
    }
}

/// Figures of a place, as text.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// The queue number.
    pub number: Option<String>,
    /// How many are ahead.
    pub ahead: Option<String>,
    /// The wait.
    pub wait: Option<String>,
}

/// A time that runs off.
#[derive(Debug, Clone, Serialize)]
pub struct Countdown {
    /// Of what.
    pub label: String,
    /// How much is left.
    pub figure: String,
}

/// How the order is decided.
#[derive(Debug, Clone, Serialize)]
pub struct Rule {
    /// The rule.
    pub text: String,
    /// How to check the draw, where there is one.
    pub draw: Option<String>,
    /// What to check it with.
    pub command: Option<String>,
}

/// What is shown.
#[derive(Debug, Clone, Serialize)]
pub struct View {
    /// The state.
    pub state: State,
    title: String,
    text: String,
    action: Option<&'static str>,
    asks_code: bool,
    has_place: bool,
    may_leave: bool,
    /// Figures of the place.
    pub figures: Option<Figures>,
    /// A time that runs off.
    pub countdown: Option<Countdown>,
    /// When it opens.
    pub opens: Option<String>,
    /// Why it takes as long as it does.
    pub reason: Option<String>,
    /// Something to be told besides.
    pub notice: Option<String>,
    /// Seconds until the page is asked for again by the browser itself.
    pub refresh: Option<u64>,
}

impl View {
    /// A state, in a language, without any figures yet.
    pub fn new(state: State, language: &Language) -> Self {
        let said = |part: &str| language.text(&format!("{}_{part}", state.name())).to_owned();
        Self {
            state,
            title: said("title"),
            text: said("text"),
            action: state.action(),
            asks_code: state == State::Invite,
            has_place: state.may_leave() || state == State::Admitted,
            may_leave: state.may_leave(),
            figures: None,
            countdown: None,
            opens: None,
            reason: None,
            notice: None,
            refresh: None,
        }
    }
}

/// A language that is offered.
#[derive(Debug, Serialize)]
pub struct Tag {
    /// As in `lang`.
    pub tag: &'static str,
    /// Its own name.
    pub name: &'static str,
    /// Its direction.
    pub dir: &'static str,
    /// The page in it.
    pub href: String,
    /// Whether it is the one that is shown.
    pub current: bool,
}

/// Addresses of the page's own files.
#[derive(Debug, Serialize)]
pub struct Assets {
    /// The style.
    pub css: String,
    /// The script.
    pub js: String,
}

/// For samples.
static NONE: Assets = Assets { css: String::new(), js: String::new() };

/// All that a template may use; README names it.
#[derive(Debug, Serialize)]
pub struct Context<'a> {
    /// What is shown.
    #[serde(flatten)]
    pub view: View,
    /// The event's slug.
    pub event: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The operator's message.
    pub message: Option<&'a str>,
    /// The event's logo.
    pub logo_url: Option<&'a str>,
    /// The address of a style with the event's colours, if it has any.
    pub brand_css: Option<String>,
    /// The language's tag.
    pub lang: &'a str,
    /// The language's direction.
    pub dir: &'a str,
    /// The language's texts.
    pub t: &'a Texts,
    /// The languages that are offered.
    pub languages: Vec<Tag>,
    /// How the order is decided.
    pub rule: Option<Rule>,
    /// The page's own address, to which its forms are sent.
    pub here: String,
    /// Where the person may be sent back to.
    pub return_to: Option<&'a str>,
    /// Whether the way back is shown.
    pub shop: bool,
    /// Addresses of the page's own files.
    pub assets: &'a Assets,
    /// What the script reads.
    pub data: Value,
}

impl<'a> Context<'a> {
    /// With something in it everywhere, to try a template with.
    pub fn sample(state: State, language: &'a Language) -> Self {
        let said = || Some("…".to_owned());
        let mut view = View::new(state, language);
        view.figures = Some(Figures { number: said(), ahead: said(), wait: said() });
        view.countdown = Some(Countdown { label: "…".to_owned(), figure: "…".to_owned() });
        (view.opens, view.reason, view.notice) = (said(), said(), said());
        view.refresh = Some(5);
        Self {
            view,
            event: "sample",
            name: "…",
            message: Some("…"),
            logo_url: Some("https://shop.example/logo.svg"),
            brand_css: said(),
            lang: language.tag,
            dir: language.text("dir"),
            t: &language.texts,
            languages: Vec::new(),
            rule: Some(Rule { text: "…".to_owned(), draw: said(), command: said() }),
            here: "/events/sample".to_owned(),
            return_to: Some("https://shop.example/"),
            shop: true,
            assets: &NONE,
            data: Value::Null,
        }
    }
}
