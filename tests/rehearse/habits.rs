//! How people behave, and how many of them so.

use clap::Args;
use serde::Serialize;

use super::random::Random;

/// Of a hundred people, how many behave so. They are drawn one by one, so that a person may do several of it.
#[derive(Debug, Clone, Copy, Args, Serialize)]
pub(crate) struct Shares {
    /// People who close the tab while they wait, without a word
    #[arg(long, default_value_t = 5.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) leave_silently: f64,
    /// People who give their place up while they wait
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) leave: f64,
    /// People whose tab is hidden, so that it asks once a minute
    #[arg(long, default_value_t = 6.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) hidden: f64,
    /// People who click twice, on the way in, to buy and to pay
    #[arg(long, default_value_t = 25.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) double_click: f64,
    /// People whose connection is cut in the middle of a request, and who send it again
    #[arg(long, default_value_t = 8.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) cut: f64,
    /// People with two tabs
    #[arg(long, default_value_t = 5.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) two_tabs: f64,
    /// Bots with forged tokens and tickets
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) bots: f64,
    /// People who do not come when they are called
    #[arg(long, default_value_t = 6.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) no_show: f64,
    /// Buyers who let their hold run out and pay too late
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) slow_payer: f64,
    /// Buyers whose card is declined first
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) declined: f64,
    /// Buyers who let their hold go
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) cancel: f64,
    /// Buyers who want more than one person may have
    #[arg(long, default_value_t = 3.0, value_parser = percent, value_name = "PERCENT")]
    pub(crate) greedy: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a number from 0 to 100".to_owned())?;
    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err("from 0 to 100".to_owned()) }
}

/// How somebody goes away while he waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// The tab is closed.
    Silently,
    /// The place is given up.
    Politely,
}

/// How a buyer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payer {
    /// Pays.
    Prompt,
    /// With a card that is declined, and then with another.
    DeclinedFirst,
    /// When the hold has run out.
    TooLate,
    /// Lets it go.
    Cancels,
}

/// One person. Times are milliseconds.
#[derive(Debug, Clone)]
pub(crate) struct Habits {
    pub(crate) bot: bool,
    pub(crate) leaves: Option<(Leaves, u64)>,
    pub(crate) hidden: bool,
    pub(crate) double_clicks: bool,
    pub(crate) is_cut: bool,
    pub(crate) two_tabs: bool,
    pub(crate) no_show: bool,
    pub(crate) payer: Payer,
    pub(crate) greedy: bool,
    pub(crate) quantity: u32,
    pub(crate) reaction_ms: u64,
    pub(crate) browse_ms: u64,
    pub(crate) pay_ms: u64,
}

/// Median times that people take, in milliseconds.
const REACTION_MS: f64 = 3_000.0;
const BROWSE_MS: f64 = 6_000.0;
const PAY_MS: f64 = 9_000.0;
/// Whoever leaves does so within two minutes.
const LEAVE_MS: u64 = 120_000;

impl Habits {
    /// Somebody. `think` makes all the times that people take longer or shorter.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "some minutes at most"
    )]
    pub(crate) fn draw(shares: &Shares, think: f64, random: &mut Random) -> Self {
        let leave_ms = (random.between(2_000, LEAVE_MS) as f64 * think) as u64;
        let leaves = match random.share() * 100.0 {
            share if share < shares.leave_silently => Some((Leaves::Silently, leave_ms)),
            share if share < shares.leave_silently + shares.leave => {
                Some((Leaves::Politely, leave_ms))
            }
            _ => None,
        };
        let payer = random.share() * 100.0;
        let payer = if payer < shares.slow_payer {
            Payer::TooLate
        } else if payer < shares.slow_payer + shares.cancel {
            Payer::Cancels
        } else if payer < shares.slow_payer + shares.cancel + shares.declined {
            Payer::DeclinedFirst
        } else {
            Payer::Prompt
        };
        Self {
            bot: random.chance(shares.bots),
            leaves,
            hidden: random.chance(shares.hidden),
            double_clicks: random.chance(shares.double_click),
            is_cut: random.chance(shares.cut),
            two_tabs: random.chance(shares.two_tabs),
            no_show: random.chance(shares.no_show),
            payer,
            greedy: random.chance(shares.greedy),
            quantity: random.one_of(&[1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 4]),
            reaction_ms: random.around_ms(REACTION_MS * think),
            browse_ms: random.around_ms(BROWSE_MS * think),
            pay_ms: random.around_ms(PAY_MS * think),
        }
    }
}
