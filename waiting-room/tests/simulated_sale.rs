//! A whole sale in simulated time: the real pacing and the real estimate against a gate and a crowd that
//! are models. What it proves about the gate is nothing, the gate is a model here (see
//! `tests/behaviour/admission.rs` for the real one); what it proves is that people are called so that the
//! gate is busy and nobody waits there for long, and that the wait that is told is what it comes to.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stdout,
    reason = "a simulation's figures are small, and printed for people"
)]

use std::collections::{BTreeMap, VecDeque};

use waiting_room::queue::{EstimatedWait, Look, Movement, Pace};

const TICK_MS: u64 = 250;
const SESSION_MS: u64 = 600_000;

/// A small reproducible source of randomness (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Log-normal with median 3 s and σ = 0.6, as the sum of twelve shares gives a normal: what people
    /// take from being called to pressing the button.
    fn reaction_ms(&mut self) -> u64 {
        let normal: f64 = (0..12).map(|_| self.share()).sum::<f64>() - 6.0;
        (3_000.0 * (0.6 * normal).exp()) as u64
    }
}

struct Sale {
    rate_per_minute: u64,
    cap: u64,
    session_ms: u64,
    no_shows: f64,
    minutes: u64,
    people: u64,
}

#[derive(Default)]
struct Outcome {
    tokens_by_minute: Vec<u64>,
    waits_at_gate_ms: Vec<u64>,
    /// What somebody was told when he asked, and how long it then took until he was called.
    told: Vec<(EstimatedWait, f64)>,
}

/// The state that the store and the crowd have in common.
#[derive(Default)]
struct World {
    called: VecDeque<(u64, u64)>,
    came: Vec<u64>,
    on_their_way: BTreeMap<(u64, u64), u64>,
    gate: VecDeque<u64>,
    issued: VecDeque<u64>,
    sessions: VecDeque<u64>,
    called_total: u64,
    tokens_total: u64,
    token_due_ms: f64,
    called_until_ms: u64,
}

impl World {
    fn arrivals(&mut self, now: u64) {
        while let Some((&(at, person), &called_at)) = self.on_their_way.first_key_value() {
            if at > now {
                break;
            }
            self.on_their_way.remove(&(at, person));
            self.gate.push_back(at);
            self.came.push(called_at);
        }
        self.gate.make_contiguous().sort_unstable();
    }

    fn let_through(&mut self, now: u64, sale: &Sale, outcome: &mut Outcome) {
        let interval = 60_000.0 / sale.rate_per_minute as f64;
        let tolerance = ((sale.rate_per_minute as f64 / 60.0).max(1.0) - 1.0) * interval;
        while self.sessions.front().is_some_and(|&ends| ends <= now) {
            self.sessions.pop_front();
        }
        while self.issued.front().is_some_and(|&at| at + 60_000 <= now) {
            self.issued.pop_front();
        }
        while let Some(&at) = self.gate.front() {
            let due = self.token_due_ms.max(now as f64);
            let full = self.sessions.len() as u64 >= sale.cap
                || self.issued.len() as u64 >= sale.rate_per_minute
                || due - now as f64 > tolerance;
            if full {
                break;
            }
            self.gate.pop_front();
            self.token_due_ms = due + interval;
            self.issued.push_back(now);
            self.sessions.push_back(now + sale.session_ms);
            self.tokens_total += 1;
            outcome.waits_at_gate_ms.push(now - at);
            let minute = (now / 60_000) as usize;
            outcome.tokens_by_minute.resize(minute + 1, 0);
            outcome.tokens_by_minute[minute] += 1;
        }
    }

    fn pace(&self, now: u64, sale: &Sale, movement: &Movement) -> Pace {
        let called_by = |from: u64, to: u64| -> u64 {
            let within = self.called.iter().filter(|&&(at, _)| from < at && at <= to);
            within.map(|&(_, people)| people).sum()
        };
        let came = |from: u64, to: u64| {
            self.came.iter().filter(|&&at| from < at && at <= to).count() as u64
        };
        let (minute_ago, just_now) = (now.saturating_sub(70_000), now.saturating_sub(10_000));
        Pace {
            rate_per_minute: sale.rate_per_minute,
            free: sale.cap.saturating_sub(self.sessions.len() as u64),
            ended_in_10s: movement.ended_in_10s(),
            standing: self.gate.len() as u64,
            on_their_way: called_by(just_now, now) - came(just_now, now),
            cohort_called: called_by(minute_ago, just_now),
            cohort_came: came(minute_ago, just_now),
            gate_free_in_ms: (self.token_due_ms - now as f64).max(0.0) as u64,
            elapsed_ms: now - self.called_until_ms,
        }
    }
}

fn simulate(sale: &Sale) -> Outcome {
    let (mut random, mut world, mut outcome) = (Random(7), World::default(), Outcome::default());
    let mut movement = Movement::default();
    // One in fifty asks how long it will take, at a moment of his own.
    let mut asked: Vec<(u64, u64, EstimatedWait)> = Vec::new();
    for now in (0..sale.minutes * 60_000).step_by(TICK_MS as usize) {
        world.arrivals(now);
        world.let_through(now, sale, &mut outcome);
        let at_gate = world.pace(now, sale, &movement);
        movement.note(Look {
            now_ms: now,
            called_total: world.called_total,
            tokens_total: world.tokens_total,
            active: world.sessions.len() as u64,
            at_gate: at_gate.standing + at_gate.on_their_way,
            anybody_waiting: world.called_total < sale.people,
        });
        let call = world.pace(now, sale, &movement).call();
        let people = call.people.min(sale.people - world.called_total);
        if people > 0 {
            world.called.push_back((now, people));
            world.called_until_ms = now - (now - world.called_until_ms - call.covered_ms);
        }
        for person in world.called_total..world.called_total + people {
            if random.share() >= sale.no_shows {
                world.on_their_way.insert((now + random.reaction_ms(), person), now);
            }
        }
        world.called_total += people;
        let person = world.called_total + (random.share() * 3_000.0) as u64;
        if now % 2_000 == 0
            && let Some(wait) = movement.estimate(person - world.called_total)
        {
            asked.push((now, person, wait));
        }
        let called_total = world.called_total;
        asked.retain(|&(at, person, wait)| {
            let called = person < called_total;
            if called {
                outcome.told.push((wait, (now - at) as f64 / 1_000.0));
            }
            !called
        });
    }
    outcome
}

fn percentile<T: Copy>(sorted: &[T], share: f64) -> T {
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}

fn report(what: &str, sale: &Sale, mut outcome: Outcome) -> Outcome {
    outcome.waits_at_gate_ms.sort_unstable();
    let at_gate = |share| percentile(&outcome.waits_at_gate_ms, share) as f64 / 1_000.0;
    println!(
        "{what}: {} a minute, {:.0} % do not come",
        sale.rate_per_minute,
        sale.no_shows * 100.0
    );
    println!("  tokens by minute {:?}", outcome.tokens_by_minute);
    println!("  at the gate: p50 {:.1} s, p99 {:.1} s", at_gate(0.5), at_gate(0.99));
    if outcome.told.is_empty() {
        return outcome;
    }
    let inside = outcome
        .told
        .iter()
        .filter(|(wait, took)| (wait.min as f64..=wait.max as f64 + 1.0).contains(took));
    let inside = 100.0 * inside.count() as f64 / outcome.told.len() as f64;
    let mut errors: Vec<f64> = outcome
        .told
        .iter()
        .map(|(wait, took)| (took - (wait.min + wait.max) as f64 / 2.0).abs())
        .collect();
    errors.sort_unstable_by(f64::total_cmp);
    println!(
        "  wait told to {} people: {inside:.0} % within the range; off by p50 {:.0} s, p90 {:.0} s, p99 {:.0} s",
        outcome.told.len(),
        percentile(&errors, 0.5),
        percentile(&errors, 0.9),
        percentile(&errors, 0.99)
    );
    assert!(inside >= 80.0, "only {inside:.0} % of the waits told were within their range");
    outcome
}

fn assert_busy(sale: &Sale, outcome: &Outcome, share: f64, from_minute: usize) {
    for (minute, &tokens) in outcome.tokens_by_minute.iter().enumerate() {
        assert!(tokens <= sale.rate_per_minute, "minute {minute}: {tokens} tokens");
        let least = (sale.rate_per_minute as f64 * share) as u64;
        assert!(minute < from_minute || tokens >= least, "minute {minute}: {tokens} of {least}");
    }
}

#[test]
fn with_two_in_five_not_coming_the_gate_is_busy_and_nobody_waits_there_for_long() {
    let sale = Sale {
        rate_per_minute: 600,
        cap: 1_000_000,
        session_ms: SESSION_MS,
        no_shows: 0.4,
        minutes: 10,
        people: 1_000_000,
    };
    let outcome = report("many no-shows", &sale, simulate(&sale));
    assert_busy(&sale, &outcome, 0.97, 3);
    assert!(percentile(&outcome.waits_at_gate_ms, 0.99) <= 5_000);
}

#[test]
fn it_holds_for_few_and_for_most_not_coming_and_for_other_rates() {
    for (rate_per_minute, no_shows) in [(600, 0.0), (600, 0.7), (6_000, 0.4), (120, 0.4)] {
        let sale = Sale {
            rate_per_minute,
            no_shows,
            cap: 1_000_000,
            session_ms: SESSION_MS,
            minutes: 8,
            people: 1_000_000,
        };
        let outcome = report("other sales", &sale, simulate(&sale));
        assert_busy(&sale, &outcome, 0.93, 3);
        assert!(percentile(&outcome.waits_at_gate_ms, 0.99) <= 6_000);
    }
}

#[test]
fn a_cap_is_kept_full_as_sessions_end() {
    let sale = Sale {
        rate_per_minute: 600,
        cap: 50,
        session_ms: 8_000,
        no_shows: 0.4,
        minutes: 6,
        people: 1_000_000,
    };
    let outcome = report("a small cap", &sale, simulate(&sale));
    // Fifty places that are each taken for eight seconds: 375 a minute at best.
    for &tokens in &outcome.tokens_by_minute[2..] {
        assert!(tokens >= 350, "{tokens} of 375");
    }
    assert!(percentile(&outcome.waits_at_gate_ms, 0.99) <= 6_000);
}
