//! Tests by behaviour, over HTTP, against a real Redis and a real Postgres.

mod admission;
mod architecture;
mod draw;
mod lanes;
mod presence;
mod queue;
mod recovery;
mod room_admin;
mod room_keys;
mod room_without_redis;
mod sale_admin;
mod sale_baskets;
mod sale_browser;
mod sale_control;
mod sale_cut_off;
mod sale_idempotency;
mod sale_input;
mod sale_limits;
mod sale_owner;
mod sale_races;
mod sale_schema;
mod sale_states;
mod sale_stock;
mod sale_tokens;
mod sale_without_postgres;
mod sale_without_redis;
