//! All that was seen, for the verdict and the figures.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

/// What people call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Call {
    Join,
    Poll,
    Heartbeat,
    Leave,
    Claim,
    Sectors,
    Reserve,
    Read,
    Cancel,
    Pay,
    Forged,
}

impl Call {
    pub(crate) const ALL: [Self; 11] = [
        Self::Join,
        Self::Poll,
        Self::Heartbeat,
        Self::Leave,
        Self::Claim,
        Self::Sectors,
        Self::Reserve,
        Self::Read,
        Self::Cancel,
        Self::Pay,
        Self::Forged,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Poll => "my place",
            Self::Heartbeat => "heartbeat",
            Self::Leave => "leave",
            Self::Claim => "claim",
            Self::Sectors => "sectors",
            Self::Reserve => "reserve",
            Self::Read => "read a reservation",
            Self::Cancel => "cancel",
            Self::Pay => "pay",
            Self::Forged => "with a forged token",
        }
    }
}

/// How often a call was answered so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Answered {
    pub(crate) call: Call,
    /// 0 when there was no answer.
    pub(crate) status: u16,
    /// The problem's code, or nothing.
    pub(crate) code: String,
}

/// How somebody's way ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// The rehearsal ended first.
    #[default]
    CutShort,
    Left,
    LeftSilently,
    NoShow,
    SoldOut,
    Closed,
    Bought,
    Cancelled,
    HoldExpired,
    /// The payment was refused, or came to another end than it should.
    NotPaid,
    /// There is no way to pay at this deployment.
    NoWayToPay,
    Bot,
    /// After many attempts without an answer or with errors.
    GaveUp,
}

/// A wait as it was told, and when. Times are milliseconds from the start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) at_ms: u64,
    pub(crate) min_seconds: u64,
    pub(crate) max_seconds: u64,
}

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    /// When the token came.
    pub(crate) at_ms: u64,
    /// By the store's clock, in seconds since the Unix epoch.
    pub(crate) iat: u64,
    pub(crate) jti: String,
    /// Until when the session has surely not ended.
    pub(crate) surely_until_ms: u64,
}

/// A reservation that was acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct Purchase {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) quantity: u64,
    pub(crate) total: i64,
    pub(crate) state: String,
    /// The state of its payment, when it was last told.
    pub(crate) payment: Option<String>,
    /// What it was bought as, when the payment came late.
    pub(crate) bought_as: Option<String>,
    /// Whether it was found again at the end.
    pub(crate) found: bool,
}

/// Things that were done twice, and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Twice {
    /// Clicked twice, or sent again after a cut, with both answers seen.
    pub(crate) compared: u64,
    /// Two outcomes where there should be one.
    pub(crate) differing: u64,
    /// Requests whose connection was cut on purpose.
    pub(crate) cut: u64,
}

/// What one person saw. Times are milliseconds from the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub(crate) index: usize,
    pub(crate) number: Option<u64>,
    /// Whether his tab is hidden.
    pub(crate) hidden: bool,
    pub(crate) number_changed: u32,
    pub(crate) ahead_rose: u32,
    pub(crate) told: Option<Told>,
    /// When the last poll was sent that was answered `waiting`.
    pub(crate) last_waiting_ms: Option<u64>,
    /// When he was first seen to be called.
    pub(crate) called_ms: Option<u64>,
    pub(crate) missed: u32,
    pub(crate) admitted: Option<Admitted>,
    /// Tokens that were not for this person or this event.
    pub(crate) wrong_tokens: u32,
    pub(crate) queue_twice: Twice,
    pub(crate) claim_twice: Twice,
    pub(crate) sale_twice: Twice,
    /// How orders and payments with one key differed.
    pub(crate) differences: Vec<String>,
    pub(crate) purchases: Vec<Purchase>,
    /// Orders of which nobody knows what became of them.
    pub(crate) unknown_orders: u32,
    /// More than one person may have was asked for, and refused.
    pub(crate) limit_refused: u32,
    /// Reservations whose state went back.
    pub(crate) went_back: u32,
    pub(crate) forged_sent: u64,
    pub(crate) forged_taken: Vec<String>,
    pub(crate) end: End,
}

/// What operators and the public were shown at one moment.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Sample {
    /// Milliseconds from the start, when it was asked for.
    pub(crate) at_ms: u64,
    /// The store's clock.
    pub(crate) store_ms: u64,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) waiting: u64,
    pub(crate) active: u64,
    pub(crate) tokens_total: u64,
    pub(crate) serving: u64,
    pub(crate) rate_effective: u64,
    /// From the public status.
    pub(crate) public_serving: Option<u64>,
    /// Over all sectors, from the public list.
    pub(crate) available: Option<i64>,
    /// What people have done by then.
    pub(crate) arrived: u64,
    pub(crate) admitted: u64,
    pub(crate) bought: u64,
}

/// One look at counters and rows.
#[derive(Debug, Clone)]
pub(crate) struct Reconciled {
    pub(crate) consistent: bool,
    pub(crate) overdue: i64,
    /// Capacity, available, held, confirmed of each sector.
    pub(crate) sectors: Vec<[i64; 4]>,
}

/// A draw as it was published.
#[derive(Debug, Clone, Default)]
pub(crate) struct Published {
    pub(crate) commitment: String,
    pub(crate) beacon: String,
    pub(crate) seed: Option<String>,
    pub(crate) n: Option<u64>,
    pub(crate) algorithm: String,
}

/// One charge or refund in the provider's ledger.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) is_charge: bool,
    pub(crate) succeeded: bool,
    pub(crate) key: String,
    pub(crate) charge_key: String,
    pub(crate) amount: i64,
    pub(crate) payment: String,
    pub(crate) reservation: String,
}

/// Everything.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) lives: Vec<Life>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) reconciled: Vec<Reconciled>,
    /// The last look, when nothing moved any more.
    pub(crate) at_the_end: Option<Reconciled>,
    pub(crate) draw_before: Option<Published>,
    pub(crate) draw_after: Option<Published>,
    pub(crate) ledger: Option<Vec<Entry>>,
    pub(crate) answers: BTreeMap<Answered, u64>,
    pub(crate) latencies: Vec<(Call, Histogram<u64>)>,
    /// How late the rehearsal itself was, in microseconds.
    pub(crate) lateness: Option<Histogram<u64>>,
    pub(crate) ended_early: bool,
    /// When it opened, and how long it took, in milliseconds from the start.
    pub(crate) opened_ms: u64,
    pub(crate) took_ms: u64,
}

/// What the event was said to be.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Promised {
    pub(crate) event: String,
    pub(crate) rate_per_minute: u64,
    pub(crate) cap: u64,
    pub(crate) places: i64,
    pub(crate) max_per_user: u64,
    pub(crate) queueing_method: String,
    /// Nobody else is in it.
    pub(crate) own_event: bool,
    pub(crate) payment: &'static str,
}
