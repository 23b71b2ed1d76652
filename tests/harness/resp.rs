//! One Redis command, for looking behind the scenes.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Sends one command to `redis://host:port[/database]` and gives a simple answer as text: a string, a
/// number, empty for nothing or a list.
///
/// # Panics
/// When Redis is not there or refuses the command.
pub async fn redis_command(url: &str, words: &[&str]) -> String {
    let address = url.strip_prefix("redis://").expect("a redis:// URL");
    let (host, database) = address.split_once('/').unwrap_or((address, "0"));
    let mut stream = BufReader::new(TcpStream::connect(host).await.expect("Redis listens"));
    ask(&mut stream, &["SELECT", database]).await;
    ask(&mut stream, words).await
}

async fn ask(stream: &mut BufReader<TcpStream>, words: &[&str]) -> String {
    let mut command = format!("*{}\r\n", words.len());
    for word in words {
        command.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    stream.get_mut().write_all(command.as_bytes()).await.expect("Redis reads");
    let mut line = String::new();
    stream.read_line(&mut line).await.expect("Redis answers");
    let (kind, rest) = line.trim_end().split_at(1);
    assert_ne!(kind, "-", "{words:?}: {rest}");
    match (kind, rest.parse::<usize>()) {
        ("$", Ok(length)) => {
            let mut text = vec![0; length + 2];
            stream.read_exact(&mut text).await.expect("the whole answer");
            String::from_utf8_lossy(&text[..length]).into_owned()
        }
        ("$" | "*", _) => String::new(),
        _ => rest.to_owned(),
    }
}
