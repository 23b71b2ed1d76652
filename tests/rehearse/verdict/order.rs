//! Numbers, the draw, and whose turn it is.

use std::collections::HashMap;

use waiting_room::queue::{ALGORITHM, Draw, Seed};

use super::super::record::{Life, Promised, Record};
use super::Check;

/// What nodes and networks may be behind one another, in milliseconds.
const SLACK_MS: u64 = 2_000;

pub(super) fn numbers(record: &Record) -> Check {
    let (mut placed, mut changed, mut rose, mut differing, mut compared) = (0, 0u64, 0u64, 0, 0);
    let mut owners: HashMap<u64, u64> = HashMap::new();
    for life in &record.lives {
        changed += u64::from(life.number_changed);
        rose += u64::from(life.ahead_rose);
        compared += life.queue_twice.compared;
        differing += life.queue_twice.differing;
        if let Some(number) = life.number.filter(|number| *number > 0) {
            placed += 1;
            *owners.entry(number).or_default() += 1;
        }
    }
    let shared = owners.values().filter(|people| **people > 1).count() as u64;
    let seen = format!(
        "of {placed} people {changed} numbers changed and {shared} were given twice; users ahead rose {rose} \
         times; {compared} joins sent again, {differing} with another number"
    );
    let wrong = changed + rose + shared + differing;
    Check::new(
        "9",
        "A number never changes, and users ahead never rise for who stays",
        placed,
        wrong,
        seen,
    )
}

pub(super) fn counter(record: &Record) -> Check {
    let backwards = |of: &mut dyn Iterator<Item = u64>| {
        let all: Vec<u64> = of.collect();
        all.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64
    };
    let samples = &record.samples;
    let wrong = backwards(&mut samples.iter().map(|sample| sample.serving))
        + backwards(&mut samples.iter().filter_map(|sample| sample.public_serving));
    let last = samples.last().map_or(0, |sample| sample.serving);
    let seen = format!("{} looks, up to {last}: {wrong} steps back", samples.len());
    Check::new("9", "The serving counter never goes back", last, wrong, seen)
}

/// Everybody's rank: drawn as published, or the number.
pub(crate) fn ranks(record: &Record) -> Vec<Option<u64>> {
    let draw = published(record);
    let rank = |life: &Life| {
        let number = life.number.filter(|number| *number > 0)?;
        Some(draw.as_ref().map_or(number, |draw| draw.rank(number)))
    };
    record.lives.iter().map(rank).collect()
}

fn published(record: &Record) -> Option<Draw> {
    let after = record.draw_after.as_ref()?;
    let seed = Seed::from_hex(after.seed.as_deref()?)?;
    Some(Draw::new(&seed, &after.beacon, after.n?))
}

pub(super) fn draw(promised: &Promised, record: &Record) -> Check {
    const WHAT: &str = "The draw is a bijection, and can be recomputed from what is published";
    let unseen = |why: &str| Check::new("11", WHAT, 0, 0, why.to_owned());
    if promised.queueing_method != "random" {
        return unseen("nobody is drawn in this event");
    }
    let Some(after) = &record.draw_after else { return unseen("nothing was published") };
    let Some(draw) = published(record) else { return unseen("it was not opened") };
    let committed = record.draw_before.as_ref().filter(|before| before.seed.is_none());
    let seed = after.seed.as_deref().and_then(Seed::from_hex);
    let mut wrong = u64::from(seed.is_none_or(|seed| seed.commitment() != after.commitment));
    wrong += u64::from(committed.is_some_and(|before| before.commitment != after.commitment));
    wrong += u64::from(after.algorithm != ALGORITHM);
    let mut drawn: Vec<u64> = (1..=draw.n()).map(|number| draw.rank(number)).collect();
    drawn.sort_unstable();
    let is_bijection = drawn.iter().copied().eq(1..=draw.n());
    wrong += u64::from(!is_bijection);
    let early = match committed {
        Some(_) => "the commitment of before the opening fits",
        None => "the commitment was not seen before the opening",
    };
    let (against, looked) = against_the_counter(record);
    let seen = format!(
        "{} drawn, a bijection: {is_bijection}; {early}; of {looked} people seen waiting or called, {against} were \
         not as their recomputed rank says",
        draw.n()
    );
    Check::new("11", WHAT, draw.n(), wrong + against, seen)
}

/// People who were waiting although the counter had passed their recomputed rank, or called before it had.
fn against_the_counter(record: &Record) -> (u64, u64) {
    let (mut against, mut looked) = (0, 0);
    let served_by = |ms: u64| {
        let index = record.samples.partition_point(|sample| sample.at_ms <= ms);
        index.checked_sub(1).map(|index| record.samples[index].serving)
    };
    let served_at_last = |ms: u64| {
        let index = record.samples.partition_point(|sample| sample.at_ms < ms + SLACK_MS);
        record.samples.get(index).or(record.samples.last()).map(|sample| sample.serving)
    };
    for (life, rank) in record.lives.iter().zip(ranks(record)) {
        let Some(rank) = rank.filter(|_| is_always_there(life)) else { continue };
        if let Some(called_ms) = life.called_ms
            && let Some(serving) = served_at_last(called_ms)
        {
            looked += 1;
            against += u64::from(serving < rank);
        }
        if let Some(serving) =
            life.last_waiting_ms.and_then(|ms| served_by(ms.saturating_sub(SLACK_MS)))
        {
            looked += 1;
            against += u64::from(serving >= rank);
        }
    }
    (against, looked)
}

/// Who has missed a turn, or hides his tab, may be passed over and called out of turn later.
pub(crate) fn is_always_there(life: &Life) -> bool {
    life.missed == 0 && !life.hidden
}

pub(super) fn turns(record: &Record) -> Check {
    let mut people: Vec<(u64, &Life)> = record
        .lives
        .iter()
        .zip(ranks(record))
        .filter_map(|(life, rank)| Some((rank?, life)))
        .filter(|(_, life)| is_always_there(life))
        .collect();
    people.sort_unstable_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    let called = people.iter().filter(|(_, life)| life.called_ms.is_some()).count();
    let (mut earliest_behind, mut overtaken) = (u64::MAX, 0);
    for (_, life) in people {
        let was_waiting = life.last_waiting_ms.unwrap_or(0);
        overtaken += u64::from(earliest_behind.saturating_add(SLACK_MS) < was_waiting);
        earliest_behind = earliest_behind.min(life.called_ms.unwrap_or(u64::MAX));
    }
    let seen = format!(
        "{called} people called: {overtaken} were still waiting {} s after somebody behind them was called",
        SLACK_MS / 1_000
    );
    Check::new(
        "order",
        "Nobody is called before who stands ahead of him",
        called as u64,
        overtaken,
        seen,
    )
}
