//! Data survives a stop and a crash.

use tokio::time::timeout;

use super::*;
use crate::scratch::Scratch;

async fn ask(redis: &Redis, command: &str) -> anyhow::Result<String> {
    let mut server = TcpStream::connect(("127.0.0.1", redis.port())).await?;
    server.write_all(format!("{command}\r\nQUIT\r\n").as_bytes()).await?;
    let mut answer = String::new();
    server.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn what_was_written_is_there_after_a_stop_and_after_a_crash() {
    let scratch = Scratch::new();
    // Flushed at each write, so that the crash below cannot lose one.
    let args = ["--appendfsync", "always"].map(str::to_owned).to_vec();
    let options = RedisOptions { args, ..RedisOptions::default() };
    let mut redis = Redis::start(scratch.path(), options).await.unwrap();
    let port = redis.port();

    assert!(ask(&redis, "INCR kept").await.unwrap().starts_with(":1"));
    redis.stop().await.unwrap();
    assert!(ask(&redis, "PING").await.is_err());
    redis.restart().await.unwrap();
    assert!(ask(&redis, "INCR kept").await.unwrap().starts_with(":2"));

    redis.kill().await.unwrap();
    assert!(ask(&redis, "PING").await.is_err());
    redis.restart().await.unwrap();
    assert!(ask(&redis, "INCR kept").await.unwrap().starts_with(":3"));
    assert_eq!(redis.port(), port);
    redis.stop().await.unwrap();
}

#[tokio::test]
async fn a_paused_server_keeps_connections_and_answers_later() {
    let scratch = Scratch::new();
    let options = RedisOptions { append_only: false, ..RedisOptions::default() };
    let redis = Redis::start(scratch.path(), options).await.unwrap();
    redis.pause().unwrap();
    assert!(timeout(Duration::from_millis(200), ask(&redis, "PING")).await.is_err());
    redis.resume().unwrap();
    assert!(ask(&redis, "PING").await.unwrap().starts_with("+PONG"));
    redis.stop().await.unwrap();
}

#[tokio::test]
async fn it_never_evicts_a_key() {
    let scratch = Scratch::new();
    let redis = Redis::start(scratch.path(), RedisOptions::default()).await.unwrap();
    let policy = ask(&redis, "CONFIG GET maxmemory-policy").await.unwrap();
    assert!(policy.contains("noeviction"), "{policy}");
}
