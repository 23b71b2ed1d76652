//! The stores that all tests of one run share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use local::stores::{Postgres, PostgresOptions, Redis, RedisOptions};
use secrecy::SecretString;
use tokio::sync::OnceCell;
use uuid::Uuid;

pub use crate::resp::redis_command;

/// Databases of one Redis, of which each test has its own: as many as the client can name.
const REDIS_DATABASES: usize = 256;
/// Servers that are started as they are needed, more than there are tests for.
const REDIS_SERVERS: usize = 8;
/// The migrated database that every test's own is copied from.
const TEMPLATE: &str = "template_sale";
/// Directories of runs are named so, with the process id behind it.
const DIRECTORY_PREFIX: &str = "stanchion-tests-";

struct Shared {
    postgres: Postgres,
    redis: [OnceCell<Redis>; REDIS_SERVERS],
    redis_databases: AtomicUsize,
}

static SHARED: OnceCell<Shared> = OnceCell::const_new();

async fn shared() -> &'static Shared {
    SHARED
        .get_or_init(|| async {
            let postgres = own_postgres(&run_directory().join("postgres")).await;
            prepare_template(&postgres).await;
            let redis_databases = AtomicUsize::new(0);
            Shared {
                postgres,
                redis: [const { OnceCell::const_new() }; REDIS_SERVERS],
                redis_databases,
            }
        })
        .await
}

/// The URL of an empty Redis database.
///
/// # Panics
/// When there are more tests than databases.
pub async fn redis_url() -> String {
    let shared = shared().await;
    let next = shared.redis_databases.fetch_add(1, Ordering::Relaxed);
    let (server, database) = (next / REDIS_DATABASES, next % REDIS_DATABASES);
    let redis = shared.redis.get(server).expect("more tests than Redis databases");
    let start = || async move { own_redis(&run_directory().join(format!("redis-{server}"))).await };
    format!("{}/{database}", redis.get_or_init(start).await.url())
}

/// The URL of a migrated Postgres database without rows.
///
/// # Panics
/// When it cannot be made.
pub async fn database_url() -> String {
    database_in(&shared().await.postgres).await
}

/// A migrated database without rows in a given Postgres, which has a template.
///
/// # Panics
/// When it cannot be made.
pub async fn database_in(postgres: &Postgres) -> String {
    let name = format!("sale_{}", Uuid::new_v4().simple());
    postgres.create_database(&name, Some(TEMPLATE)).await.expect("a database is made");
    postgres.url_for(&name)
}

/// A Redis for one test alone, to be stopped and killed.
///
/// # Panics
/// When it does not start.
pub async fn own_redis(directory: &Path) -> Redis {
    own_redis_with(directory, &[]).await
}

/// The same with further arguments.
///
/// # Panics
/// When it does not start.
pub async fn own_redis_with(directory: &Path, arguments: &[&str]) -> Redis {
    let databases = REDIS_DATABASES.to_string();
    let bound = ["--databases", &databases];
    let args = bound.iter().chain(arguments).map(ToString::to_string).collect();
    let options = RedisOptions { args, ..RedisOptions::default() };
    Redis::start(directory, options).await.expect("Redis starts")
}

/// A Postgres for one test alone, to be stopped and killed, with its template.
///
/// # Panics
/// When it does not start.
pub async fn postgres_with_template(directory: &Path) -> Postgres {
    let postgres = own_postgres(directory).await;
    prepare_template(&postgres).await;
    postgres
}

async fn own_postgres(directory: &Path) -> Postgres {
    let options = PostgresOptions { connections_max: 400, ..PostgresOptions::default() };
    Postgres::start(directory, options).await.expect("Postgres starts")
}

async fn prepare_template(postgres: &Postgres) {
    postgres.create_database(TEMPLATE, None).await.expect("the template is made");
    let url = SecretString::from(postgres.url_for(TEMPLATE));
    checkout::migrate(&url).await.expect("the template is migrated");
}

/// A directory below this run's own.
pub fn scratch() -> PathBuf {
    let directory = run_directory().join(Uuid::new_v4().to_string());
    std::fs::create_dir_all(&directory).expect("the temporary directory takes a new one");
    directory
}

/// Removes a stopped Redis' data, as if its disk had been lost.
///
/// # Panics
/// When a file cannot be removed.
pub fn forget(directory: &Path) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        let removed = if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(&path)
        } else if path.extension().is_some_and(|extension| extension == "log") {
            Ok(())
        } else {
            std::fs::remove_file(&path)
        };
        removed.expect("the data is removed");
    }
}

/// This run's directory. What earlier runs have left is removed: a run that was killed could not.
fn run_directory() -> PathBuf {
    static CLEANED: std::sync::Once = std::sync::Once::new();
    let (parent, own) = (std::env::temp_dir(), std::process::id());
    CLEANED.call_once(|| {
        for entry in std::fs::read_dir(&parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix(DIRECTORY_PREFIX);
            if process.is_some_and(|id| !Path::new("/proc").join(id).exists()) {
                // Somebody else's, perhaps; then it stays.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    });
    parent.join(format!("{DIRECTORY_PREFIX}{own}"))
}
