//! A real nginx with the configuration that `deploy/front` offers, its addresses put in.

use std::path::Path;

use local::leash::{Launch, Leash};
use local::ports;

use crate::client::Client;
use crate::{stores, wait};

const OFFERED: &str = include_str!("../../deploy/front/nginx.conf");
/// Where the offered configuration expects its static files.
const FILES: &str = "/etc/nginx/stanchion";

/// A running nginx, stopped when it is dropped.
pub struct Nginx {
    /// The shop's host.
    pub shop: Client,
    /// The waiting room's host.
    pub queue: Client,
    _leash: Leash,
}

/// Two free ports, to be named in settings before nginx runs.
pub struct Ports {
    queue: u16,
    shop: u16,
}

impl Ports {
    /// Two that nobody listens on.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub fn free() -> Self {
        let port = || ports::free().expect("loopback has free ports");
        Self { queue: port(), shop: port() }
    }

    /// The shop's origin.
    #[must_use]
    pub fn shop_origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.shop)
    }
}

impl Nginx {
    /// In front of a waiting room and a shop.
    ///
    /// # Panics
    /// When nginx is missing or refuses the configuration.
    pub async fn start(ports: &Ports, waiting_room: &Client, shop: &Client) -> Self {
        let directory = stores::scratch();
        let configuration = directory.join("nginx.conf");
        let text = configured(ports, waiting_room, shop, &directory);
        std::fs::write(&configuration, text).expect("the temporary directory is writable");
        let launch = Launch::new("nginx", program())
            .args(["-c".into(), configuration.into_os_string()])
            .args(["-e".into(), directory.join("error.log").into_os_string()]);
        let leash = Leash::spawn(&launch).expect("nginx is installed");
        let client = |port: u16| Client::new(format!("127.0.0.1:{port}"));
        let nginx = Self { shop: client(ports.shop), queue: client(ports.queue), _leash: leash };
        wait::until("nginx", async || {
            let log = std::fs::read_to_string(directory.join("error.log")).unwrap_or_default();
            assert!(nginx._leash.is_running(), "nginx ended: {log}");
            (!ports::is_free(ports.shop)).then_some(())
        })
        .await;
        nginx
    }
}

/// Debian's is not in the search path of everybody.
fn program() -> &'static str {
    let debian = "/usr/sbin/nginx";
    if Path::new(debian).exists() { debian } else { "nginx" }
}

fn configured(ports: &Ports, waiting_room: &Client, shop: &Client, directory: &Path) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/front");
    let host = |client: &Client| client.base().trim_start_matches("http://").to_owned();
    let put_in = [
        ("127.0.0.1:8080", host(waiting_room)),
        ("127.0.0.1:3000", host(shop)),
        ("127.0.0.1:9001", format!("127.0.0.1:{}", ports.queue)),
        ("127.0.0.1:9002", format!("127.0.0.1:{}", ports.shop)),
        ("https://queue.shop.example", format!("http://127.0.0.1:{}", ports.queue)),
        ("https://shop.example", ports.shop_origin()),
        (FILES, files.display().to_string()),
    ];
    let mut offered = OFFERED.to_owned();
    for (example, real) in put_in {
        assert!(offered.contains(example), "{example} is not in the offered configuration");
        offered = offered.replace(example, &real);
    }
    let directory = directory.display();
    // One process, of the user who runs the tests, that writes nowhere else.
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {directory}/{kind};"))
        .join("\n");
    format!(
        "daemon off; master_process off; pid {directory}/pid;\nevents {{}}\n\
         http {{\naccess_log off;\n{paths}\n{offered}}}\n"
    )
}
