//! What the shop's self-check has killed and started again.

use anyhow::Context;
use local::shop::Restarted;

use super::Stack;

impl Stack {
    /// Restarts what the shop asks for, until something has ended by itself; says what.
    pub(crate) async fn watch(&mut self) -> anyhow::Error {
        let mut orders = self.restarts.take();
        loop {
            let order = async {
                match &mut orders {
                    Some(orders) => orders.recv().await,
                    None => None,
                }
            };
            let order = tokio::select! {
                death = self.death() => return death,
                Some(order) = order => order,
            };
            let restarted = self.restart(order.what).await;
            // Whoever asked may have gone; a process that did not come back is seen as dead.
            let _ = order.done.send(restarted);
        }
    }

    async fn restart(&mut self, what: Restarted) -> anyhow::Result<()> {
        match what {
            Restarted::Redis => {
                let redis = self.redis.as_mut().context("there is no Redis")?;
                redis.kill().await?;
                redis.restart().await
            }
            Restarted::Checkout => {
                let mut checkouts =
                    self.services.iter_mut().filter(|one| one.name().starts_with("checkout"));
                let checkout = checkouts.next().context("there is no checkout")?;
                checkout.kill().await?;
                checkout.restart().await
            }
        }
    }
}
