//! Each thing that must hold is seen to hold, to break, and not to be seen.

use super::super::record::{
    Admitted, Entry, Life, Promised, Published, Purchase, Reconciled, Record, Sample,
};
use super::{Check, Outcome, exit_code, judge};
use waiting_room::queue::{ALGORITHM, Draw, Seed};

const SEED: [u8; 32] = [7; 32];
const PEOPLE: u64 = 40;

fn promised() -> Promised {
    Promised {
        event: "sale".into(),
        rate_per_minute: 30,
        cap: 20,
        places: 100,
        max_per_user: 4,
        queueing_method: "random".into(),
        own_event: true,
        payment: "sandbox provider",
    }
}

fn published(opened: bool) -> Published {
    let seed = Seed::new(SEED);
    Published {
        commitment: seed.commitment(),
        beacon: String::new(),
        seed: opened.then(|| seed.to_hex()),
        n: opened.then_some(PEOPLE),
        algorithm: ALGORITHM.into(),
    }
}

fn bought(id: u64) -> Purchase {
    Purchase {
        id: format!("r{id}"),
        token: String::new(),
        quantity: 1,
        total: 1_000,
        state: "confirmed".into(),
        payment: Some("paid".into()),
        bought_as: None,
        found: true,
    }
}

/// Forty people, drawn, called by rank every three seconds, each of whom has bought one place.
fn good() -> Record {
    let draw = Draw::new(&Seed::new(SEED), "", PEOPLE);
    let life = |number: u64| {
        let called_ms = 10_000 + draw.rank(number) * 3_000;
        let mut life = Life {
            number: Some(number),
            last_waiting_ms: Some(called_ms - 1_000),
            called_ms: Some(called_ms),
            admitted: Some(Admitted {
                at_ms: called_ms,
                iat: 1_000_000 + called_ms / 1_000,
                jti: format!("j{number}"),
                surely_until_ms: called_ms + 9_000,
            }),
            forged_sent: 1,
            limit_refused: 1,
            purchases: vec![bought(number)],
            ..Life::default()
        };
        life.sale_twice.compared = 1;
        life
    };
    let sample = |second: u64| Sample {
        at_ms: second * 1_000,
        store_ms: 1_000_000_000 + second * 1_000,
        serving: (second.saturating_sub(10) / 3).min(PEOPLE),
        tokens_total: (second.saturating_sub(10) / 3).min(PEOPLE),
        active: 3,
        available: Some(60),
        ..Sample::default()
    };
    let end = Reconciled { consistent: true, overdue: 0, sectors: vec![[100, 60, 0, 40]] };
    let charge = |number: u64| Entry {
        is_charge: true,
        succeeded: true,
        key: format!("k{number}"),
        charge_key: String::new(),
        amount: 1_000,
        payment: format!("p{number}"),
        reservation: format!("r{number}"),
    };
    Record {
        lives: (1..=PEOPLE).map(life).collect(),
        samples: (0..140).map(sample).collect(),
        reconciled: vec![end.clone()],
        at_the_end: Some(end),
        draw_before: Some(published(false)),
        draw_after: Some(published(true)),
        ledger: Some((1..=PEOPLE).map(charge).collect()),
        ..Record::default()
    }
}

fn broken(record: &Record) -> Vec<&'static str> {
    let checks = judge(&promised(), record);
    let broken = checks.iter().filter(|check| check.outcome == Outcome::Broken);
    broken.map(|check| check.what).collect()
}

fn breaks(what: &str, change: impl FnOnce(&mut Record)) {
    let mut record = good();
    change(&mut record);
    let broken = broken(&record);
    assert!(broken.len() == 1 && broken[0].contains(what), "{what}: {broken:?}");
}

#[test]
fn a_good_sale_holds_and_everything_was_seen() {
    let checks = judge(&promised(), &good());
    let not_held: Vec<&Check> =
        checks.iter().filter(|check| check.outcome != Outcome::Held).collect();
    // No answers were recorded in it.
    assert!(not_held.iter().all(|check| check.id == "answers"), "{not_held:#?}");
    assert_eq!(exit_code(&checks, false), 0);
    assert_eq!(exit_code(&checks, true), 3);
}

#[test]
fn stock_and_rows() {
    breaks("never negative", |record| record.reconciled[0].sectors[0] = [100, -1, 0, 101]);
    breaks("never negative", |record| record.reconciled[0].sectors[0] = [100, 50, 0, 40]);
    breaks("never negative", |record| record.samples[5].available = Some(101));
    breaks("agree", |record| record.reconciled[0].consistent = false);
    breaks("agree", |record| {
        record.at_the_end.as_mut().expect("there").sectors[0] = [100, 59, 0, 41]
    });
}

#[test]
fn keys_holds_and_limits() {
    breaks("One key", |record| record.lives[3].sale_twice.differing = 1);
    breaks("acknowledged", |record| record.lives[3].purchases[0].found = false);
    breaks("ends exactly once", |record| record.lives[3].went_back = 1);
    breaks("one person may", |record| {
        record.lives[3].purchases[0].quantity = 5;
        record.at_the_end.as_mut().expect("there").sectors[0] = [100, 56, 0, 44];
    });
    breaks("valid admission", |record| record.lives[3].forged_taken.push("none: 201".into()));
}

#[test]
fn money() {
    let ledger = |record: &mut Record| record.ledger.take().expect("there");
    breaks("charged at most once", |record| {
        let mut all = ledger(record);
        all.push(Entry { key: "again".into(), ..all[0].clone() });
        record.ledger = Some(all);
    });
    breaks("charged at most once", |record| {
        let mut all = ledger(record);
        all.pop();
        record.ledger = Some(all);
    });
    breaks("charged at most once", |record| {
        let mut all = ledger(record);
        let (payment, reservation) = ("lost".to_owned(), "gone".to_owned());
        all.push(Entry { key: "k".into(), payment, reservation, ..all[0].clone() });
        record.ledger = Some(all);
    });
    // Given back, it is right again.
    let mut record = good();
    let mut all = ledger(&mut record);
    let (payment, reservation) = ("lost".to_owned(), "gone".to_owned());
    all.push(Entry { key: "lost".into(), payment, reservation, ..all[0].clone() });
    let charge_key = "lost".to_owned();
    all.push(Entry { is_charge: false, key: "refund".into(), charge_key, ..all[0].clone() });
    record.ledger = Some(all);
    assert!(broken(&record).is_empty());
}

#[test]
fn rate_and_cap_and_tokens() {
    breaks("than the rate", |record| {
        for life in &mut record.lives[..31] {
            life.admitted.as_mut().expect("admitted").iat = 2_000_000;
        }
    });
    breaks("than the rate", |record| record.samples[130].tokens_total = 75);
    breaks("than the cap", |record| record.samples[5].active = 21);
    breaks("than the cap", |record| {
        for life in &mut record.lives {
            life.admitted.as_mut().expect("admitted").surely_until_ms = 1_000_000;
        }
    });
    breaks("person, one token", |record| record.lives[3].claim_twice.differing = 1);
    breaks("person, one token", |record| {
        record.lives[3].admitted.as_mut().expect("admitted").jti = "j9".into();
    });
}

#[test]
fn numbers_counter_draw_and_turns() {
    breaks("number never changes", |record| record.lives[3].number_changed = 1);
    breaks("number never changes", |record| record.lives[3].ahead_rose = 1);
    breaks("counter never goes back", |record| record.samples[139].serving = 12);
    breaks("The draw", |record| {
        record.draw_before.as_mut().expect("there").commitment = "other".into();
    });
}

#[test]
fn who_is_called_out_of_turn_is_seen() {
    let mut record = good();
    let last = record.lives.iter().max_by_key(|life| life.called_ms).expect("people");
    let index = record.lives.iter().position(|life| life.called_ms == last.called_ms).expect("him");
    record.lives[index].called_ms = Some(12_000);
    record.lives[index].last_waiting_ms = None;
    let broken = broken(&record);
    assert!(broken.iter().any(|what| what.contains("stands ahead")), "{broken:?}");
    assert!(broken.iter().any(|what| what.contains("The draw")), "against the counter: {broken:?}");
}

#[test]
fn nothing_seen_is_no_success() {
    let checks = judge(&promised(), &Record::default());
    assert!(checks.iter().all(|check| check.outcome == Outcome::NotObserved), "{checks:#?}");
    assert_eq!(exit_code(&checks, false), 3);
}
