//! A rehearsal from its beginning to its end.

use std::io::{BufRead, IsTerminal, stdin};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use futures::stream::{self, StreamExt};
use time::OffsetDateTime;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::arrivals::Curve;
use super::caller::Caller;
use super::cli::Cli;
use super::person;
use super::plan::{self, Planned};
use super::progress;
use super::record::{Call, Life, Promised, Record};
use super::report::Report;
use super::stage::{self, Live, Ops, Stage};
use super::watch::{self, Watched};

/// Between the making of the event and the first arrival.
const PREPARATION: Duration = Duration::from_secs(2);
/// Reservations that are read again at once.
const READERS: usize = 32;
/// How long the sale may take to come to rest at the end, beyond the time of a hold.
const REST: Duration = Duration::from_secs(20);
/// A day: nothing rehearses for longer.
const MINUTES_MAX: f64 = 1_440.0;

/// Rehearses, and tells what was seen. `interrupt` ends it early; `quiet` shows no progress.
///
/// # Errors
/// When it cannot begin: an address is missing, not allowed or does not answer, or the event cannot be made.
pub async fn run(cli: &Cli, interrupt: CancellationToken, quiet: bool) -> anyhow::Result<Report> {
    ensure!(
        cli.minutes > 0.0 && cli.minutes <= MINUTES_MAX,
        "--minutes is more than 0, and at most a day"
    );
    ensure!(cli.think > 0.0 && cli.think <= 100.0, "--think is more than 0, and at most 100");
    let target = cli.target()?;
    if !target.is_local {
        agreed(cli)?;
    }
    let ops = Ops::new(&target.ops_token)?;
    let curve = Curve {
        pre_queue_ms: cli.pre_queue * 1_000,
        arrive_ms: cli.arrive * 1_000,
        early: cli.early,
        burst: cli.burst,
    };
    let crowd = plan::crowd(cli.people as usize, &curve, &cli.shares, cli.think, cli.seed);
    let counts = plan::count(&crowd, &curve);
    let spread = target.is_local && !cli.one_address;
    let caller = Caller::new(crowd.len(), spread, cli.client_ip_header.clone())?;
    let began = OffsetDateTime::now_utc();
    let opens_at = began + PREPARATION + Duration::from_secs(cli.pre_queue);
    let promised = stage::event(cli, &target, &ops, opens_at).await?;
    let (any_sector, key_id, public_key) = stage::shown(&target, &ops, &promised.event).await?;

    let stage = Arc::new(Stage {
        target,
        caller,
        promised,
        hold_seconds: cli.hold,
        any_sector,
        key_id,
        public_key,
        real_token: std::sync::OnceLock::new(),
        live: Live::default(),
        stop: interrupt.child_token(),
    });
    if !quiet {
        say_plan(cli, &stage.promised, &counts);
    }
    let to_the_opening = opens_at - OffsetDateTime::now_utc();
    let opened_ms = u64::try_from(to_the_opening.whole_milliseconds()).unwrap_or(0);
    let mut record = act(cli, &stage, &ops, crowd, opened_ms, quiet).await;
    record.ended_early |= interrupt.is_cancelled();
    let whole = !record.ended_early;
    after(&stage, &ops, &mut record, whole).await;
    stage::close(&stage.target, &ops, &stage.promised).await.context("the event is not closed")?;
    record.took_ms = stage.caller.now_ms();
    Ok(Report::new(cli, &stage.promised, counts, began, &record))
}

/// Everybody comes and goes, while it is watched.
async fn act(
    cli: &Cli,
    stage: &Arc<Stage>,
    ops: &Ops,
    crowd: Vec<Planned>,
    opened_ms: u64,
    quiet: bool,
) -> Record {
    let ended = CancellationToken::new();
    let watcher = tokio::spawn(watch::watch(stage.clone(), ops.clone(), ended.clone()));
    let people = crowd.len() as u64;
    let shown = (!quiet)
        .then(|| tokio::spawn(progress::show(stage.clone(), people, opened_ms, ended.clone())));
    let draw_before = watch::draw(stage, ops).await;
    let deadline = stage.caller.started + Duration::from_secs_f64(cli.minutes * 60.0);
    let curve_starts = opened_ms.saturating_sub(cli.pre_queue * 1_000);
    let (lives, all_done) = crowd_comes(stage, crowd, curve_starts, deadline).await;
    let draw_after = watch::draw(stage, ops).await;
    ended.cancel();
    let watched = watcher.await;
    let Watched { samples, reconciled } =
        watched.unwrap_or(Watched { samples: Vec::new(), reconciled: Vec::new() });
    if let Some(shown) = shown {
        // It has nothing to say any more.
        let _ = shown.await;
    }
    Record {
        lives,
        samples,
        reconciled,
        draw_before,
        draw_after,
        answers: stage.caller.answers(),
        latencies: stage.caller.latencies(),
        lateness: Some(stage.caller.lateness()),
        ended_early: !all_done,
        opened_ms,
        ..Record::default()
    }
}

/// Starts everybody when it is time, and waits until all are done or time is up. Whether all are done.
async fn crowd_comes(
    stage: &Arc<Stage>,
    crowd: Vec<Planned>,
    starts_ms: u64,
    deadline: Instant,
) -> (Vec<Life>, bool) {
    let mut tasks = JoinSet::new();
    let mut all_came = true;
    for who in crowd {
        let due = stage.caller.started + Duration::from_millis(starts_ms + who.at_ms);
        let arrival = stage.stop.run_until_cancelled(sleep_until(due.min(deadline)));
        if arrival.await.is_none() || due >= deadline {
            all_came = false;
            break;
        }
        tasks.spawn(person::live(stage.clone(), who, due));
    }
    let mut lives = Vec::new();
    let end = async {
        while let Some(life) = tasks.join_next().await {
            lives.extend(life);
        }
    };
    let all_done = tokio::time::timeout_at(deadline, end).await.is_ok();
    stage.stop.cancel();
    while let Some(life) = tasks.join_next().await {
        lives.extend(life);
    }
    lives.sort_unstable_by_key(|life| life.index);
    (lives, all_done && all_came)
}

/// Everything that was acknowledged is looked for again, and counted, when nothing moves any more.
async fn after(stage: &Arc<Stage>, ops: &Ops, record: &mut Record, whole: bool) {
    let hold = Duration::from_secs(if whole { stage.hold_seconds } else { 0 });
    let rest = timeout(hold + REST, async {
        loop {
            read_again(stage, record).await;
            let event = &stage.promised.event;
            record.at_the_end = watch::reconcile(&stage.target, ops, event).await;
            let at_rest = record.at_the_end.as_ref().is_some_and(|end| {
                end.overdue == 0 && end.sectors.iter().all(|[_, _, held, _]| *held == 0)
            });
            if at_rest {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    });
    // Not at rest in time: the last look stands.
    let _ = rest.await;
    record.ledger = watch::ledger(&stage.target, &stage.promised.event).await;
}

/// Reads every reservation that may still change, and all of them the first time.
async fn read_again(stage: &Stage, record: &mut Record) {
    let purchases = record.lives.iter_mut().flat_map(|life| {
        let who = life.index;
        life.purchases.iter_mut().map(move |purchase| (who, purchase))
    });
    let open = purchases.filter(|(_, one)| !one.found || one.state == "held");
    let reads = stream::iter(open).map(|(who, purchase)| async move {
        let url = format!("{}/v1/reservations/{}", stage.checkout(who), purchase.id);
        let token = purchase.token.clone();
        let due = Instant::now();
        let get = |client: &reqwest::Client| client.get(&url).bearer_auth(token);
        let reply = stage.caller.send(who, Call::Read, due, 0, get).await;
        if let Some(now) = reply.as_ref().and_then(person::held) {
            purchase.found = true;
            purchase.state = now.state;
            purchase.payment = now.payment.or(purchase.payment.take());
            purchase.bought_as = now.bought_as.or(purchase.bought_as.take());
        }
    });
    reads.buffer_unordered(READERS).collect::<()>().await;
}

fn agreed(cli: &Cli) -> anyhow::Result<()> {
    if cli.yes {
        return Ok(());
    }
    ensure!(stdin().is_terminal(), "say --yes to send this load to another machine");
    eprintln!("{} people will come to another machine. Type yes to go on:", cli.people);
    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    ensure!(line.trim() == "yes", "not done");
    Ok(())
}

fn say_plan(cli: &Cli, promised: &Promised, counts: &plan::Counts) {
    eprintln!(
        "event {}: {} people in {} s before and {} s after the opening; {} a minute, {} sessions, {} places; \
         payment: {}; at most {} minutes; seed {}",
        promised.event,
        cli.people,
        cli.pre_queue,
        cli.arrive,
        promised.rate_per_minute,
        promised.cap,
        promised.places,
        promised.payment,
        cli.minutes,
        cli.seed,
    );
    eprintln!("{counts:?}");
}
