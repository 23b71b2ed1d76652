//! What the rehearsal is told: by flags, by the environment, by a file as `deploy/local.sh` writes it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use clap::Parser;
use reqwest::Url;

use super::habits::Shares;

/// Rehearses a sale over HTTP with people who behave as people do, and says whether everything held.
///
/// Exit status: 0 everything held, 1 something that must hold was broken, 2 it could not begin,
/// 3 it was ended early or too little was seen.
#[derive(Debug, Clone, Parser)]
#[command(name = "rehearse", version, args_override_self = true)]
pub struct Cli {
    /// How many people come, bots included
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    pub(crate) people: u32,
    /// When it ends at the latest, whatever happens
    #[arg(long, default_value_t = 10.0, value_name = "MINUTES")]
    pub(crate) minutes: f64,
    /// How long people gather before the opening
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) pre_queue: u64,
    /// How long people keep coming after the opening
    #[arg(long, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) arrive: u64,
    /// Of a hundred people, how many come before the opening
    #[arg(long, default_value_t = 60.0, value_name = "PERCENT")]
    pub(crate) early: f64,
    /// Of a hundred people, how many rush in at the opening
    #[arg(long, default_value_t = 25.0, value_name = "PERCENT")]
    pub(crate) burst: f64,
    /// The times that people take to think, as a multiple of the usual ones
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub(crate) think: f64,
    /// Decides who comes when and does what; the same again for the same seed
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// Rehearse in this event as it is [default: one that is made for it and closed at the end]
    #[arg(long)]
    pub(crate) event: Option<String>,
    /// Tokens a minute that are allowed [default: a third of the people; of --event, its own]
    #[arg(long)]
    pub(crate) rate: Option<u64>,
    /// Sessions at once that are allowed [default: three quarters of the rate; of --event, its own]
    #[arg(long)]
    pub(crate) cap: Option<u64>,
    /// Places to sell in the event that is made [default: 1.3 for each person]
    #[arg(long)]
    pub(crate) places: Option<u64>,
    /// How long that event keeps a hold
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) hold: u64,
    /// How long that event's admissions are good
    #[arg(long, default_value_t = 150, value_name = "SECONDS")]
    pub(crate) session: u64,
    /// How long that event waits for people it has called
    #[arg(long, default_value_t = 90, value_name = "SECONDS")]
    pub(crate) claim_window: u64,

    /// Public addresses of the waiting room, of each instance
    #[arg(long, env = "WAITING_ROOM_URLS", value_delimiter = ' ', value_name = "URL")]
    pub(crate) room_url: Vec<String>,
    /// Address of the waiting room's ops listener
    #[arg(long, env = "WAITING_ROOM_OPS_URL", value_name = "URL")]
    pub(crate) room_ops_url: Option<String>,
    /// Public addresses of the checkout, of each instance
    #[arg(long, env = "CHECKOUT_URLS", value_delimiter = ' ', value_name = "URL")]
    pub(crate) checkout_url: Vec<String>,
    /// Address of the checkout's ops listener
    #[arg(long, env = "CHECKOUT_OPS_URL", value_name = "URL")]
    pub(crate) checkout_ops_url: Option<String>,
    /// The ops token of both
    #[arg(long, env = "OPS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) ops_token: Option<String>,
    /// The service credential: without a sandbox provider, paid is what it confirms
    #[arg(long, env = "SERVICE_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub(crate) service_token: Option<String>,
    /// Address of the sandbox provider, whose ledger is compared with the reservations
    #[arg(long, env = "SANDBOX_URL", value_name = "URL")]
    pub(crate) sandbox_url: Option<String>,
    /// The sandbox provider's key
    #[arg(long, env = "SANDBOX_KEY", hide_env_values = true, value_name = "KEY")]
    pub(crate) sandbox_key: Option<String>,
    /// File with these as NAME=value; flags and the environment go first
    #[arg(long, default_value = ".local/env", value_name = "FILE")]
    pub(crate) env_file: PathBuf,

    /// Header in which the deployment expects the client's address; people are then given addresses of
    /// their own in it
    #[arg(long, value_name = "NAME")]
    pub(crate) client_ip_header: Option<String>,
    /// All from one address, even on loopback, where people otherwise come from addresses of 127.0.0.0/8
    #[arg(long)]
    pub(crate) one_address: bool,
    /// Allow addresses that are not of this machine. What is there gets the load of all these people, and
    /// whoever waits there waits longer
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Do not ask before a load is sent to another machine
    #[arg(long)]
    pub(crate) yes: bool,

    /// Write what was seen as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the report as a page
    #[arg(long, default_value = "rehearsal.html", value_name = "FILE")]
    pub(crate) report: PathBuf,

    #[command(flatten)]
    pub(crate) shares: Shares,
}

/// Where it goes. Not `Debug`: it holds tokens.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) rooms: Vec<String>,
    pub(crate) room_ops: String,
    pub(crate) checkouts: Vec<String>,
    pub(crate) checkout_ops: String,
    pub(crate) ops_token: String,
    pub(crate) paying: Paying,
    /// Whether all of it is on this machine.
    pub(crate) is_local: bool,
}

/// How buyers pay.
#[derive(Clone)]
pub(crate) enum Paying {
    /// By the sandbox provider, whose address and key these are.
    Sandbox { url: String, key: String },
    /// By the shop's word.
    Confirmed { service_token: String },
    /// They cannot, and let their holds go.
    Not,
}

impl Cli {
    /// The addresses, once they are known to be complete and allowed.
    pub(crate) fn target(&self) -> anyhow::Result<Target> {
        let file = std::fs::read_to_string(&self.env_file).map(|text| variables(&text));
        let file = file.unwrap_or_default();
        let one = |told: &Option<String>, name: &str| {
            told.clone().or_else(|| file.get(name).cloned()).filter(|value| !value.is_empty())
        };
        let needed = |told: &Option<String>, name: &str, flag: &str| {
            one(told, name).with_context(|| {
                format!("{flag} is missing, and {name} in {}", self.env_file.display())
            })
        };
        let several = |told: &[String], name: &str, flag: &str| -> anyhow::Result<Vec<String>> {
            let list = file.get(&format!("{name}S")).or_else(|| file.get(name));
            let told = if told.is_empty() {
                list.map(|all| all.split(' ').map(str::to_owned).collect()).unwrap_or_default()
            } else {
                told.to_vec()
            };
            ensure!(
                !told.is_empty(),
                "{flag} is missing, and {name} in {}",
                self.env_file.display()
            );
            Ok(told.iter().map(|url| url.trim_end_matches('/').to_owned()).collect())
        };
        let sandbox = one(&self.sandbox_url, "SANDBOX_URL")
            .zip(one(&self.sandbox_key, "SANDBOX_KEY"))
            .map(|(url, key)| Paying::Sandbox { url, key });
        let service = one(&self.service_token, "SERVICE_TOKEN")
            .map(|service_token| Paying::Confirmed { service_token });
        let mut target = Target {
            rooms: several(&self.room_url, "WAITING_ROOM_URL", "--room-url")?,
            room_ops: needed(&self.room_ops_url, "WAITING_ROOM_OPS_URL", "--room-ops-url")?,
            checkouts: several(&self.checkout_url, "CHECKOUT_URL", "--checkout-url")?,
            checkout_ops: needed(&self.checkout_ops_url, "CHECKOUT_OPS_URL", "--checkout-ops-url")?,
            ops_token: needed(&self.ops_token, "OPS_TOKEN", "--ops-token")?,
            paying: sandbox.or(service).unwrap_or(Paying::Not),
            is_local: true,
        };
        let ops = [target.room_ops.clone(), target.checkout_ops.clone()];
        for url in target.rooms.iter().chain(&target.checkouts).chain(&ops) {
            let is_local = is_loopback(url)?;
            if !is_local && !self.allow_remote {
                bail!(
                    "{url} is not on this machine. {} people would come to it at once, and whoever really \
                     waits there would wait longer: say --allow-remote if you mean it",
                    self.people
                );
            }
            target.is_local &= is_local;
        }
        Ok(target)
    }
}

/// Lines of `NAME=value`, or `NAME='value'`.
fn variables(text: &str) -> HashMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.trim().split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim_matches(['\'', '"']).to_owned()))
        .collect()
}

fn is_loopback(url: &str) -> anyhow::Result<bool> {
    let parsed: Url = url.parse().with_context(|| format!("{url} is not a URL"))?;
    ensure!(matches!(parsed.scheme(), "http" | "https"), "{url} is not an http(s) URL");
    let host = parsed.host_str().unwrap_or_default().trim_matches(['[', ']']);
    Ok(host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(line: &[&str]) -> anyhow::Result<Target> {
        let mut all = vec!["rehearse", "--env-file", "/nowhere"];
        all.extend(line);
        Cli::try_parse_from(all)?.target()
    }

    const LOCAL: [&str; 10] = [
        "--room-url",
        "http://127.0.0.1:1",
        "--room-ops-url",
        "http://localhost:2",
        "--checkout-url",
        "http://[::1]:3",
        "--checkout-ops-url",
        "http://127.0.0.2:4",
        "--ops-token",
        "token",
    ];

    #[test]
    fn another_machine_is_left_alone_unless_that_is_meant() {
        assert!(target(&LOCAL).expect("all of it is here").is_local);
        let mut remote = LOCAL;
        remote[5] = "https://shop.example";
        let refused = target(&remote).err().expect("not here").to_string();
        assert!(
            refused.contains("shop.example") && refused.contains("--allow-remote"),
            "{refused}"
        );
        let mut meant = remote.to_vec();
        meant.push("--allow-remote");
        assert!(!target(&meant).expect("it is meant").is_local);
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = target(&LOCAL[2..]).err().expect("no room").to_string();
        assert!(
            refused.contains("--room-url") && refused.contains("WAITING_ROOM_URL"),
            "{refused}"
        );
    }

    #[test]
    fn a_file_as_local_sh_writes_it_is_read() {
        let read = variables("CHECKOUT_URL=http://a:1\nCHECKOUT_URLS='http://a:1 http://b:2'\n");
        assert_eq!(read["CHECKOUT_URL"], "http://a:1");
        assert_eq!(read["CHECKOUT_URLS"], "http://a:1 http://b:2");
    }
}
