//! Open streams on one node.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::stack::{Stack, tickets};

pub(crate) async fn run(count: usize) -> anyhow::Result<()> {
    let stack = Stack::start().await?;
    stack.create(&json!({"admission_rate_per_minute": 60})).await;
    stack.ops.post("/v1/admin/events/sale/pause").await.expect(200);
    stack.pretend_joined(u64::try_from(count)?).await;
    let before = stack.node_bytes()?;
    let started = Instant::now();
    let mut streams = Vec::with_capacity(count);
    let host = stack.public.base().trim_start_matches("http://").to_owned();
    for chunk in tickets(1..=u64::try_from(count)?)?.chunks(200) {
        let mut opening = JoinSet::new();
        for ticket in chunk {
            opening.spawn(open(host.clone(), ticket.clone()));
        }
        while let Some(stream) = opening.join_next().await {
            streams.push(stream??);
        }
    }
    let opened = started.elapsed();
    let each = stack.node_bytes()?.saturating_sub(before) / u64::try_from(count)?;
    // One change, told to everybody.
    let started = Instant::now();
    stack.ops.post("/v1/admin/events/sale/resume").await.expect(200);
    let mut told = JoinSet::new();
    for stream in streams {
        told.spawn(until(stream, r#""status":"waiting""#));
    }
    let mut heard = 0;
    while let Some(result) = told.join_next().await {
        heard += usize::from(result?.is_ok());
    }
    println!("{count} open streams on one node");
    println!("  opened in {opened:.1?}, {each} bytes of the node each");
    println!("  one change told to {heard} of them within {:.1?}", started.elapsed());
    Ok(())
}

async fn open(host: String, ticket: String) -> anyhow::Result<TcpStream> {
    let mut stream = TcpStream::connect(&host).await?;
    let request = format!(
        "GET /v1/events/sale/queue/stream HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {ticket}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    until(stream, r#""status":"paused""#).await
}

/// Reads until a word has come. People who have been called in the meantime read of that.
async fn until(mut stream: TcpStream, word: &str) -> anyhow::Result<TcpStream> {
    let mut text = Vec::new();
    let mut buffer = [0; 2_048];
    let done = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        text.contains(word) || text.contains(r#""status":"ready""#)
    };
    while !done(&text) {
        let read = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut buffer)).await;
        let count = read.context("nothing came in a minute")??;
        anyhow::ensure!(count > 0, "the stream ended: {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&buffer[..count]);
    }
    Ok(stream)
}
