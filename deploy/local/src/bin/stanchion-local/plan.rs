//! Who listens where, and the settings of each service.

use std::collections::HashSet;

use local::ports;
use local::service::ServiceOptions;

use crate::cli::Cli;
use crate::layout::Layout;
use crate::secrets::Secrets;

/// From one address, without `--bench`.
const JOINS_PER_MINUTE: &str = "6000";

/// One instance of a service.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// Such as `waiting-room-1`.
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) ops_port: u16,
}

impl Instance {
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn ops_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ops_port)
    }
}

/// The ports given out so far. Most are not bound yet, so that asking the kernel is not enough.
#[derive(Debug, Default)]
pub(crate) struct Ports(HashSet<u16>);

impl Ports {
    /// `count` instances; the first has the preferred ports, when they are free.
    pub(crate) fn instances(
        &mut self,
        service: &str,
        count: u8,
        (port, ops_port): (u16, u16),
    ) -> anyhow::Result<Vec<Instance>> {
        (1..=count)
            .map(|number| {
                let name = if count == 1 { service.into() } else { format!("{service}-{number}") };
                Ok(Instance { name, port: self.next(port)?, ops_port: self.next(ops_port)? })
            })
            .collect()
    }

    /// One port, the preferred one when it is free.
    pub(crate) fn next(&mut self, preferred: u16) -> anyhow::Result<u16> {
        let mut port =
            if self.0.contains(&preferred) { ports::free()? } else { ports::prefer(preferred)? };
        while !self.0.insert(port) {
            port = ports::free()?;
        }
        Ok(port)
    }
}

/// What all instances need to know.
pub(crate) struct Plan<'a> {
    pub(crate) cli: &'a Cli,
    pub(crate) layout: &'a Layout,
    pub(crate) secrets: &'a Secrets,
    pub(crate) redis_url: String,
    pub(crate) database_url: String,
    pub(crate) jwks_url: String,
    pub(crate) shop_url: String,
    pub(crate) sandbox_url: String,
    /// Of the checkouts' ops listeners, comma-separated.
    pub(crate) checkout_ops_urls: String,
}

impl Plan<'_> {
    pub(crate) fn waiting_room(&self, instance: &Instance) -> anyhow::Result<ServiceOptions> {
        let secrets = self.secrets;
        let mut options = self
            .service("waiting-room", instance)?
            .env("STANCHION_ADMISSION_KEY_FILE", secrets.admission_key.to_string_lossy())
            .env("STANCHION_ADMISSION_NEXT_KEY_FILE", secrets.admission_next_key.to_string_lossy())
            .env("STANCHION_TICKET_KEY", &secrets.ticket_key)
            .env("STANCHION_CHECKOUT_OPS_URLS", &self.checkout_ops_urls)
            .env("STANCHION_CHECKOUT_OPS_TOKEN", &secrets.ops_read_token)
            .env("STANCHION_INSECURE_COOKIES", "true");
        // Everybody on this machine comes from one address: a limit for one home would refuse a crowd of checks.
        let joins = if self.cli.bench { "0" } else { JOINS_PER_MINUTE };
        options = options.env("STANCHION_JOIN_LIMIT_PER_MINUTE", joins);
        Ok(options)
    }

    pub(crate) fn checkout(&self, instance: &Instance) -> anyhow::Result<ServiceOptions> {
        let mut options = self
            .service("checkout", instance)?
            .env("STANCHION_DATABASE_URL", &self.database_url)
            .env("STANCHION_JWKS_URL", &self.jwks_url)
            .env("STANCHION_SERVICE_TOKEN", &self.secrets.service_token)
            .env("STANCHION_RESERVATION_KEY", &self.secrets.reservation_key)
            .env("STANCHION_SANDBOX_URL", &self.sandbox_url)
            .env("STANCHION_SANDBOX_KEY", &self.secrets.sandbox_key)
            .env("STANCHION_SANDBOX_WEBHOOK_SECRETS", &self.secrets.sandbox_webhook_secret);
        if self.cli.bench {
            options = options
                .env("STANCHION_USER_RATE_PER_SECOND", "0")
                .env("STANCHION_USER_RATE_BURST", "0");
        }
        Ok(options)
    }

    /// The sandbox provider, which tells the first checkout.
    pub(crate) fn sandbox(&self, port: u16, checkout: &Instance) -> anyhow::Result<ServiceOptions> {
        let webhooks = format!("{}/v1/webhooks/payments/sandbox", checkout.url());
        let program = self.cli.binary("stanchion-sandbox")?;
        let log = self.layout.log("sandbox");
        Ok(ServiceOptions::new("sandbox", program, &self.sandbox_url, log)
            .env("STANCHION_SANDBOX_LISTEN", format!("127.0.0.1:{port}"))
            .env("STANCHION_SANDBOX_KEY", &self.secrets.sandbox_key)
            .env("STANCHION_SANDBOX_WEBHOOK_SECRET", &self.secrets.sandbox_webhook_secret)
            .env("STANCHION_SANDBOX_WEBHOOK_URL", webhooks))
    }

    fn service(&self, binary: &str, instance: &Instance) -> anyhow::Result<ServiceOptions> {
        let program = self.cli.binary(binary)?;
        let log = self.layout.log(&instance.name);
        Ok(ServiceOptions::new(&instance.name, program, instance.url(), log)
            .arg("serve")
            .env("STANCHION_LISTEN", format!("127.0.0.1:{}", instance.port))
            .env("STANCHION_OPS_LISTEN", format!("127.0.0.1:{}", instance.ops_port))
            .env("STANCHION_OPS_TOKEN", &self.secrets.ops_token)
            .env("STANCHION_OPS_READ_TOKEN", &self.secrets.ops_read_token)
            .env("STANCHION_REDIS_URL", &self.redis_url)
            .env("STANCHION_CORS_ORIGINS", &self.shop_url)
            .env("STANCHION_LOG", &self.cli.log)
            .env("STANCHION_LOG_FORMAT", "json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_out_twice() {
        let mut ports = Ports::default();
        let rooms = ports.instances("waiting-room", 3, (8080, 9080)).unwrap();
        let checkouts = ports.instances("checkout", 3, (8080, 9080)).unwrap();
        let all: HashSet<u16> =
            rooms.iter().chain(&checkouts).flat_map(|one| [one.port, one.ops_port]).collect();
        assert_eq!(all.len(), 12);
        assert_eq!(rooms[2].name, "waiting-room-3");
    }
}
