//! The waiting room's configuration.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use http::HeaderName;
use reqwest::Url;
use secrecy::SecretString;
use shared::secret::HmacKey;
use shared::settings::Common;

/// Lets people in to an on-sale at a controlled rate.
#[derive(Debug, Parser)]
#[command(name = "waiting-room", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the binary can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service.
    Serve(Box<Settings>),
    /// Make a new Ed25519 key to sign admission tokens with.
    Keygen(Keygen),
    /// Recompute a rank of the draw from what has been published, without any server.
    VerifyDraw(VerifyDraw),
}

/// What has been published about a draw, and whom to look up.
#[derive(Debug, Args)]
pub struct VerifyDraw {
    /// The seed, published after the opening: 64 hex digits.
    #[arg(long)]
    pub seed: String,
    /// The commitment, published before it: 64 hex digits. The seed is checked against it.
    #[arg(long)]
    pub commitment: String,
    /// How many people were drawn.
    #[arg(long)]
    pub n: u64,
    /// The public value that was mixed in, if one was named.
    #[arg(long, default_value = "")]
    pub beacon: String,
    /// The queue number to look up.
    #[arg(long)]
    pub number: u64,
}

/// Where a new key goes.
#[derive(Debug, Args)]
pub struct Keygen {
    /// The file to write; it must not exist yet. Readable by its owner only.
    #[arg(long)]
    pub output: PathBuf,
}

/// What the service is told.
#[derive(Debug, Clone, Args)]
pub struct Settings {
    /// Configuration both services read.
    #[command(flatten)]
    pub common: Common,

    /// Address of the public listener.
    #[arg(
        long,
        env = "STANCHION_LISTEN",
        value_name = "STANCHION_LISTEN",
        default_value = "0.0.0.0:8080"
    )]
    pub listen: SocketAddr,

    /// Address of the ops listener.
    #[arg(
        long,
        env = "STANCHION_OPS_LISTEN",
        value_name = "STANCHION_OPS_LISTEN",
        default_value = "127.0.0.1:9080"
    )]
    pub ops_listen: SocketAddr,

    /// File with the Ed25519 key that signs admission tokens (PKCS #8 PEM; see keygen).
    #[arg(long, env = "STANCHION_ADMISSION_KEY_FILE", value_name = "STANCHION_ADMISSION_KEY_FILE")]
    pub admission_key_file: PathBuf,

    /// File with the key that will sign them next: published already, not used yet.
    #[arg(
        long,
        env = "STANCHION_ADMISSION_NEXT_KEY_FILE",
        value_name = "STANCHION_ADMISSION_NEXT_KEY_FILE"
    )]
    pub admission_next_key_file: Option<PathBuf>,

    /// File with the key that signed them before: published still, until its tokens are dead.
    #[arg(
        long,
        env = "STANCHION_ADMISSION_PREVIOUS_KEY_FILE",
        value_name = "STANCHION_ADMISSION_PREVIOUS_KEY_FILE"
    )]
    pub admission_previous_key_file: Option<PathBuf>,

    /// URL of the keys (JWKS: EdDSA, ES256, RS256) of the shop's user tokens, for rooms with
    /// identity: jwt.
    #[arg(
        long,
        env = "STANCHION_IDENTITY_JWKS_URL",
        value_name = "STANCHION_IDENTITY_JWKS_URL",
        conflicts_with = "identity_jwks_file"
    )]
    pub identity_jwks_url: Option<Url>,

    /// The same as a file.
    #[arg(long, env = "STANCHION_IDENTITY_JWKS_FILE", value_name = "STANCHION_IDENTITY_JWKS_FILE")]
    pub identity_jwks_file: Option<PathBuf>,

    /// The iss that user tokens must have. Left out: any.
    #[arg(long, env = "STANCHION_IDENTITY_ISSUER", value_name = "STANCHION_IDENTITY_ISSUER")]
    pub identity_issuer: Option<String>,

    /// The aud that user tokens must have. Left out: any.
    #[arg(long, env = "STANCHION_IDENTITY_AUDIENCE", value_name = "STANCHION_IDENTITY_AUDIENCE")]
    pub identity_audience: Option<String>,

    /// Key of the queue tickets: at least 64 hex digits, the same on every node.
    #[arg(
        long,
        env = "STANCHION_TICKET_KEY",
        value_name = "STANCHION_TICKET_KEY",
        hide_env_values = true
    )]
    pub ticket_key: HmacKey,

    /// Ops listeners of the checkouts, comma-separated, for the dashboard's figures of the sale. Left out: it
    /// has none.
    #[arg(
        long,
        env = "STANCHION_CHECKOUT_OPS_URLS",
        value_name = "STANCHION_CHECKOUT_OPS_URLS",
        value_delimiter = ',',
        requires = "checkout_ops_token"
    )]
    pub checkout_ops_urls: Vec<Url>,

    /// Their token; the one that only reads is enough.
    #[arg(
        long,
        env = "STANCHION_CHECKOUT_OPS_TOKEN",
        value_name = "STANCHION_CHECKOUT_OPS_TOKEN",
        hide_env_values = true
    )]
    pub checkout_ops_token: Option<SecretString>,

    /// Cookies without Secure and the __Host- prefix: for plain http on a developer's machine only.
    #[arg(long, env = "STANCHION_INSECURE_COOKIES", value_name = "STANCHION_INSECURE_COOKIES")]
    pub insecure_cookies: bool,

    /// Joins a minute from one address (an IPv6 /64 counts as one) on this node; 0 is no limit.
    #[arg(
        long,
        env = "STANCHION_JOIN_LIMIT_PER_MINUTE",
        value_name = "STANCHION_JOIN_LIMIT_PER_MINUTE",
        default_value_t = 120,
        value_parser = clap::value_parser!(u32).range(0..=1_000_000)
    )]
    pub join_limit_per_minute: u32,

    /// Header in which your proxy sends the client's address (its last entry counts), such as
    /// x-forwarded-for. Left out: the connection's address.
    #[arg(long, env = "STANCHION_CLIENT_IP_HEADER", value_name = "STANCHION_CLIENT_IP_HEADER")]
    pub client_ip_header: Option<HeaderName>,

    /// Directory with a room.html that replaces the waiting page, and files that are served beside it
    /// under /assets/custom/. Left out: the page that is built in.
    #[arg(long, env = "STANCHION_TEMPLATE_DIR", value_name = "STANCHION_TEMPLATE_DIR")]
    pub template_dir: Option<PathBuf>,
}
