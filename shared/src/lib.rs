//! What the waiting room and the checkout have in common; it knows neither of them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ids`] | names on the wire: events, sectors, reservations, people |
//! | [`admission`] | the admission token: claims, keys, issuer, verifier |
//! | [`problem`] | every error answer (RFC 9457), and extractors whose rejection is one |
//! | [`redis`] | the only file that names the Redis client |
//! | [`layers`] | what wraps every route: request id, trace, panic, time and body limits |
//! | [`serve`] | listeners: accept loop, limits, graceful shutdown |
//! | [`ops`] | the bearer token of the ops listener, and `/metrics` |
//! | [`health`] | `/healthz` and `/readyz` |
//! | [`docs`] | `/openapi.json`, generated from the code, and the page `/docs` that shows it |
//! | [`settings`] | configuration both services read |
//! | [`secret`] | keys and tokens as they come from the environment |
//! | [`signals`] | what the two services say to each other through Redis |
//! | [`telemetry`] | logs and metrics |

pub mod admission;
pub mod docs;
mod drain;
pub mod health;
pub mod ids;
pub mod layers;
mod measure;
pub mod ops;
pub mod problem;
pub mod redis;
pub mod secret;
pub mod serve;
pub mod settings;
pub mod signals;
pub mod telemetry;
