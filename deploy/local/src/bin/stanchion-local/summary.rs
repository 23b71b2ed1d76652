//! What to open and what to call, once everything is up.

use crate::cli::Cli;
use crate::layout::Layout;
use crate::say;
use crate::seed;
use crate::stack::Addresses;

pub(crate) fn print(cli: &Cli, layout: &Layout, addresses: &Addresses) {
    let Addresses { waiting_rooms, checkouts, shop_url, sandbox_url, .. } = addresses;
    let room = &waiting_rooms[0];
    let stop = if cli.detached { "deploy/local.sh --stop stops it" } else { "Ctrl-C stops it" };
    say::text(&format!(
        "
Stanchion is running. {stop}.

  Waiting page    {room}/events/{event}
  Demo shop       {shop_url}
  Self-check      {shop_url}/self-check   (scenarios against what runs here, and a load)
  Dashboard       {ops}/dashboard?event={event}   (sign in with OPS_TOKEN or OPS_READ_TOKEN)
  Waiting room    {room}   (ops {ops})
  Checkout        {checkout}   (ops {checkout_ops})
  Sandbox         {sandbox_url}   (takes no real money; switches at /v1/switches)
  Scripts         addresses and tokens are in {env}
  Logs            {logs}
",
        event = seed::EVENT,
        room = room.url(),
        ops = room.ops_url(),
        checkout = checkouts[0].url(),
        checkout_ops = checkouts[0].ops_url(),
        env = layout.env_file().display(),
        logs = layout.root.join("logs").display(),
    ));
    if cli.bench {
        bench_warning();
    }
}

/// Said twice: before the start and after it.
pub(crate) fn bench_warning() {
    say::text("!! BENCH: the limits per user and per address are LIFTED.");
    say::text("!! One client can take the whole sale. Never run it like this for the public.");
}
