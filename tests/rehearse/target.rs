//! Where it goes: addresses and tokens, also from a file as `deploy/local.sh` writes it.

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::{Context, bail, ensure};
use reqwest::Url;

use super::cli::Cli;

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
    use clap::Parser;

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
