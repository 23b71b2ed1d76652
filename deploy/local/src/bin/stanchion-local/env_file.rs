//! `.local/env`: addresses and tokens as shell variables.

use std::path::Path;

use crate::secrets;
use crate::seed;
use crate::stack::Addresses;

/// Writes the file, all at once, for this user only.
pub(crate) fn write(path: &Path, addresses: &Addresses) -> anyhow::Result<()> {
    secrets::write_private(path, &render(addresses))
}

fn render(addresses: &Addresses) -> String {
    let Addresses { waiting_rooms, checkouts, .. } = addresses;
    let mut lines = vec![
        ("WAITING_ROOM_URL", waiting_rooms[0].url()),
        ("WAITING_ROOM_OPS_URL", waiting_rooms[0].ops_url()),
        ("CHECKOUT_URL", checkouts[0].url()),
        ("CHECKOUT_OPS_URL", checkouts[0].ops_url()),
        ("OPS_TOKEN", addresses.ops_token.clone()),
        ("OPS_READ_TOKEN", addresses.ops_read_token.clone()),
        ("SERVICE_TOKEN", addresses.service_token.clone()),
        ("DATABASE_URL", addresses.database_url.clone()),
        ("REDIS_URL", addresses.redis_url.clone()),
        ("DEMO_EVENT", seed::EVENT.to_owned()),
        ("DEMO_SECTOR_ID", addresses.demo_sector_id.clone()),
        ("SHOP_URL", addresses.shop_url.clone()),
        ("SANDBOX_URL", addresses.sandbox_url.clone()),
        ("SANDBOX_KEY", addresses.sandbox_key.clone()),
    ];
    if waiting_rooms.len() > 1 {
        let urls = |all: &[crate::plan::Instance]| {
            let urls: Vec<String> = all.iter().map(crate::plan::Instance::url).collect();
            format!("'{}'", urls.join(" "))
        };
        lines.push(("WAITING_ROOM_URLS", urls(waiting_rooms)));
        lines.push(("CHECKOUT_URLS", urls(checkouts)));
    }
    lines.iter().map(|(key, value)| format!("{key}={value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Instance;

    #[test]
    fn several_addresses_are_one_shell_word() {
        let room = Instance { name: String::new(), port: 1, ops_port: 2 };
        let addresses = Addresses {
            waiting_rooms: vec![room.clone(), room.clone()],
            checkouts: vec![room.clone(), room],
            shop_url: "http://127.0.0.1:3".to_owned(),
            sandbox_url: String::new(),
            sandbox_key: String::new(),
            database_url: String::new(),
            redis_url: String::new(),
            ops_token: "secret".to_owned(),
            ops_read_token: String::new(),
            service_token: String::new(),
            demo_sector_id: String::new(),
        };
        let text = render(&addresses);
        assert!(text.contains("CHECKOUT_URLS='http://127.0.0.1:1 http://127.0.0.1:1'\n"), "{text}");
        assert!(text.contains("WAITING_ROOM_OPS_URL=http://127.0.0.1:2\nCHECKOUT_URL="), "{text}");
    }
}
