//! Tasks that own what they do. A client that goes away drops its request's future wherever that
//! stands; a transaction in it would go back to the pool open. So whatever writes runs in a task
//! of its own, which finishes whether or not somebody waits for the answer.

use std::sync::{Arc, Weak};
use std::time::Duration;

use shared::problem::Problem;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::error::queue_full;

/// Writes under way or waiting, in this instance. At 300 a second, which one sector does at the
/// least, the last of them would wait longer than any request does.
const PENDING_MAX: usize = 10_000;

/// Proof of running in a task of its own. Only [`Tasks`] makes one, and whatever opens a
/// transaction asks for it.
#[derive(Debug)]
pub struct Owned {
    caller: Weak<()>,
}

impl Owned {
    /// Whether somebody still waits for the result. What nobody waits for need not be begun.
    pub fn is_awaited(&self) -> bool {
        self.caller.strong_count() > 0
    }
}

/// The tasks of this instance.
pub struct Tasks {
    tracker: TaskTracker,
    places: Arc<Semaphore>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { tracker: TaskTracker::new(), places: Arc::new(Semaphore::new(PENDING_MAX)) }
    }
}

impl Tasks {
    /// Runs `work` to its end, even when the caller does not wait for it. A panic in it is a 500
    /// for this caller.
    pub async fn run<T, F>(&self, work: impl FnOnce(Owned) -> F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return Err(queue_full());
        };
        // Dropped with this future when the client goes away.
        let caller = Arc::new(());
        let work = work(Owned { caller: Arc::downgrade(&caller) });
        let task = async move {
            let result = work.await;
            drop(place);
            result
        };
        self.tracker.spawn(task.in_current_span()).await.map_err(|error| {
            tracing::error!(error = %error, "a write's task did not end as it should");
            metrics::counter!("panics_total").increment(1);
            Problem::internal()
        })
    }

    /// Starts a loop of the background. It has to end by itself at shutdown.
    pub fn background<F>(&self, work: impl FnOnce(Owned) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tracker.spawn(work(Owned { caller: Weak::new() }));
    }

    /// Starts work on other threads. It has to end by itself when there is nothing left to do.
    pub fn background_on<F>(&self, threads: &Handle, work: impl FnOnce(Owned) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.tracker.spawn_on(work(Owned { caller: Weak::new() }), threads);
    }

    /// Waits for all tasks, for at most so long.
    pub async fn finish(&self, timeout: Duration) {
        self.tracker.close();
        if tokio::time::timeout(timeout, self.tracker.wait()).await.is_err() {
            tracing::warn!(tasks = self.tracker.len(), "tasks still under way at the end, cut off");
        }
    }
}

#[cfg(test)]
mod tests {
    use shared::problem::Code;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_is_finished_when_the_caller_is_gone_and_knows_it() {
        let tasks = Tasks::default();
        let (begun, has_begun) = oneshot::channel();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let call = tasks.run(|owned| async move {
            begun.send(owned.is_awaited()).expect("the test waits for it");
            may_go_on.await.expect("the test lets it go on");
            done.send(owned.is_awaited()).expect("the test waits for it");
        });
        tokio::select! {
            _ = call => panic!("it has not been let go on"),
            awaited = has_begun => assert_eq!(awaited, Ok(true)),
        }
        go_on.send(()).expect("it waits for this");
        assert_eq!(is_done.await, Ok(false));
        tasks.finish(Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_not_a_hang() {
        let tasks = Tasks::default();
        let broken = tasks.run(|_| async { panic!("on purpose") });
        let problem: Result<(), Problem> = broken.await;
        assert_eq!(problem.map_err(|problem| problem.code()), Err(Code::Internal));
        assert_eq!(tasks.run(|_| async { 1 }).await, Ok(1), "the next one is not touched by it");
    }
}
