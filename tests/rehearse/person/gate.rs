//! From being called to the token.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use reqwest::{Client, RequestBuilder};
use tokio::time::{Instant, sleep};

use super::super::caller::Reply;
use super::super::record::{Admitted, Call, End};
use super::Visit;
use super::place::{Admission, Claims};

impl Visit {
    /// Claims until there is a token. `None` when the turn was missed.
    pub(super) async fn claim(&mut self) -> Result<Option<String>, End> {
        sleep(Duration::from_millis(self.who.habits.reaction_ms)).await;
        let url = format!("{}/v1/events/{}/admission", self.room(), self.stage.promised.event);
        let ticket = self.ticket().to_owned();
        let request = |client: &Client| client.post(&url).bearer_auth(&ticket);
        if self.who.habits.is_cut && self.cut_off(request).await {
            self.life.claim_twice.cut += 1;
        }
        loop {
            let Some(reply) = self.click(Call::Claim, request).await else {
                self.back_off(None).await?;
                continue;
            };
            match reply.status {
                200 | 201 => {
                    let Some(admission) = reply.json::<Admission>() else {
                        return Err(End::GaveUp);
                    };
                    self.admitted(&reply, &admission.admission_token);
                    if self.life.claim_twice.cut > 0 {
                        self.claimed_again(request, &reply).await;
                    }
                    return Ok(Some(admission.admission_token));
                }
                410 => return Ok(None),
                409 if reply.code() == "not_ready" => {
                    self.failures = 0;
                    let seconds = reply.retry_after.unwrap_or(2).clamp(1, 30);
                    sleep(Duration::from_secs(seconds)).await;
                }
                _ => self.refused(Some(reply)).await?,
            }
        }
    }

    fn room(&self) -> &str {
        self.stage.room(self.who.index)
    }

    /// Once, or twice at once; both answers must be the same token then.
    async fn click(
        &mut self,
        call: Call,
        request: impl Fn(&Client) -> RequestBuilder + Copy,
    ) -> Option<Reply> {
        let due = Instant::now();
        if !self.who.habits.double_clicks && !self.who.habits.two_tabs {
            return self.send(call, due, 0, request).await;
        }
        let (one, two) =
            tokio::join!(self.send(call, due, 0, request), self.send(call, due, 0, request));
        if let (Some(one), Some(two)) = (&one, &two)
            && one.is_success()
            && two.is_success()
        {
            self.life.claim_twice.compared += 1;
            self.life.claim_twice.differing += u64::from(one.body != two.body);
        }
        let both = [one, two].into_iter().flatten();
        both.max_by_key(Reply::is_success)
    }

    async fn claimed_again(&mut self, request: impl Fn(&Client) -> RequestBuilder, first: &Reply) {
        let again = self.send(Call::Claim, Instant::now(), 0, request).await;
        let Some(again) = again.filter(Reply::is_success) else { return };
        self.life.claim_twice.compared += 1;
        self.life.claim_twice.differing += u64::from(again.body != first.body);
    }

    fn admitted(&mut self, reply: &Reply, token: &str) {
        self.stage.live.admitted.fetch_add(1, Relaxed);
        let Some(claims) = Claims::of(token) else {
            self.life.wrong_tokens += 1;
            return;
        };
        let is_mine =
            Some(claims.number) == self.life.number && claims.event == self.stage.promised.event;
        self.life.wrong_tokens += u32::from(!is_mine);
        let _ = self.stage.real_token.set(token.to_owned());
        // The store's seconds are cut off, and it may have been issued a moment before it came.
        let seconds = claims.exp.saturating_sub(claims.iat).saturating_sub(2);
        let surely_until_ms = reply.sent_ms + seconds * 1_000;
        let Claims { iat, jti, .. } = claims;
        self.life.admitted = Some(Admitted { at_ms: reply.at_ms, iat, jti, surely_until_ms });
    }

    /// From here on the session may be over.
    pub(super) fn session_may_end(&mut self) {
        self.session_may_end_at(self.stage.caller.now_ms());
    }

    /// From that moment on the session may be over.
    pub(super) fn session_may_end_at(&mut self, ms: u64) {
        if let Some(admitted) = &mut self.life.admitted {
            admitted.surely_until_ms = admitted.surely_until_ms.min(ms);
        }
    }
}
