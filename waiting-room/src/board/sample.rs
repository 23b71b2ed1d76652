//! A look at every room, once a second, and what it comes to.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use shared::ids::EventId;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::waited::Look;
use super::{
    Alarm, Facts, INTERVAL_SECONDS, LastCalled, LastMinute, SaleBody, Sample, Second, Watched,
    alarms,
};
use crate::app::App;
use crate::queue::{Mode, QueueingMethod};
use crate::rooms::Room;

/// What is known of a room beside its counters.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) last_minute: LastMinute,
    pub(crate) last_called: Option<LastCalled>,
    pub(crate) sale: SaleBody,
    pub(crate) alarms: Vec<Alarm>,
}

/// Looks until shutdown.
pub async fn sample_until(app: Arc<App>, shutdown: CancellationToken) {
    let mut seconds = interval(Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for second in 0_u64.. {
        tokio::select! {
            () = shutdown.cancelled() => return,
            _ = seconds.tick() => {}
        }
        for event in app.rooms.events() {
            let Some(room) = app.rooms.get(&event) else { continue };
            let now_ms = app.board.now_ms();
            app.board.with(&event, |watched| {
                note(watched, &room);
                if second.is_multiple_of(INTERVAL_SECONDS) {
                    watched.hour.add(sample(watched, &room, now_ms));
                }
            });
        }
    }
}

/// What this node knows of a room now.
pub(crate) fn view(app: &App, event: &EventId, room: &Room) -> View {
    let now_ms = app.board.now_ms();
    let seen = app.board.with(event, |watched| {
        // Whoever asks at once after a change is not told of the second before.
        note(watched, room);
        let (last_minute, sale) = (watched.minute.last(), watched.sale.body(now_ms));
        let alarms = alarms(Facts {
            stale: room.is_stale(),
            is_passthrough: room.settings.queueing_method == QueueingMethod::Passthrough,
            active: room.snapshot.active,
            cap: room.settings.max_active_sessions,
            admitted: last_minute.admitted,
            rate_max: watched.minute.rate_max(),
            while_enough_wait: watched.minute.while_enough_wait(),
            queue_delay_ms: room.snapshot.pressure_ms,
            sale: &sale,
        });
        View { last_minute, last_called: watched.arrivals.last_called(), sale, alarms }
    });
    seen.unwrap_or_default()
}

fn note(watched: &mut Watched, room: &Room) {
    if room.is_stale() {
        return;
    }
    let (settings, now) = (&room.settings, &room.snapshot);
    let is_letting_in = matches!(now.mode, Mode::Open | Mode::Draining)
        && matches!(settings.queueing_method, QueueingMethod::Random | QueueingMethod::Fifo);
    watched.minute.note(Second {
        at_ms: now.now_ms,
        epoch: now.epoch,
        last_number: now.last_number,
        called_total: now.called_total,
        tokens_total: now.tokens_total,
        rate: settings.admission_rate_per_minute,
        rate_effective: now.rate_effective,
        waiting: now.waiting,
        is_open: is_letting_in
            && now.active < settings.max_active_sessions
            && now.stock_left != Some(0),
    });
    watched.arrivals.note(Look {
        at_ms: now.now_ms,
        last_number: now.last_number,
        serving: now.serving,
        draw_n: now.draw_n,
        opened_at_ms: now.opened_at_ms,
        estimate: room.estimate(now.waiting),
    });
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "seven digits are enough for a chart"
)]
fn sample(watched: &Watched, room: &Room, now_ms: u64) -> Sample {
    let known = |value: u64| if room.is_stale() { f32::NAN } else { value as f32 };
    let maybe = |value: Option<u64>| value.map_or(f32::NAN, |value| value as f32);
    let (settings, now, last) = (&room.settings, &room.snapshot, watched.minute.last());
    let sale = watched.sale.body(now_ms);
    let estimate = room.estimate(now.waiting).map(|wait| u64::midpoint(wait.min, wait.max));
    let stays_away = (now.cohort_called > 0 && !room.is_stale())
        .then(|| now.cohort_called.saturating_sub(now.cohort_came) * 100 / now.cohort_called);
    let places = |of: fn(&super::sale::Sector) -> i64| {
        let sum: i64 = sale.sectors.iter().map(of).sum();
        if sale.sectors.is_empty() { f32::NAN } else { sum as f32 }
    };
    let refusals = (sale.age_ms.is_some()).then(|| sale.refusals_in_60s.values().sum());
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Sample {
        at_ms: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
        values: [
            known(now.waiting),
            known(now.on_their_way + now.standing),
            known(now.active),
            known(settings.max_active_sessions),
            known(last.admitted),
            known(settings.admission_rate_per_minute),
            known(now.rate_effective),
            known(last.joined),
            maybe(stays_away),
            maybe(estimate),
            maybe(watched.arrivals.last_called().map(|called| called.waited_seconds)),
            places(|sector| sector.available),
            places(|sector| sector.held),
            places(|sector| sector.confirmed),
            sale.reservations_per_second.map_or(f32::NAN, |speed| speed as f32),
            maybe(refusals),
            maybe(sale.queue_delay_ms),
            maybe(sale.holds_overdue.map(|overdue| overdue.count)),
        ],
    }
}
