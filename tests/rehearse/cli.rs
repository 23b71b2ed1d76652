//! What the rehearsal is told, by flags and by the environment.

use std::path::PathBuf;

use clap::Parser;

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

    /// Public address of the waiting room; of several instances all of them, with a space between
    #[arg(long, env = "WAITING_ROOM_URL", value_delimiter = ' ', value_name = "URL")]
    pub(crate) room_url: Vec<String>,
    /// Address of the waiting room's ops listener
    #[arg(long, env = "WAITING_ROOM_OPS_URL", value_name = "URL")]
    pub(crate) room_ops_url: Option<String>,
    /// Public address of the checkout; of several instances all of them
    #[arg(long, env = "CHECKOUT_URL", value_delimiter = ' ', value_name = "URL")]
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
