//! The threads that everything runs on.

use tokio::runtime::{Builder, Handle, Runtime};

/// Tasks that a thread runs before it looks for what has come in from the network. The library's 61
/// are, with requests of 100 µs each, six milliseconds: a writer that waits for Postgres' answer
/// between two statements would wait for as long each time.
const EVENT_INTERVAL: u32 = 7;

/// Threads of the writers. Few: one does a hundred batches a second and more.
const WRITER_THREADS: usize = 2;

/// Threads for writers alone. Among the requests a writer would stand in line behind all that have
/// come in, after each statement; here the kernel lets it go on at once.
pub struct WriterThreads(Option<Runtime>);

impl WriterThreads {
    /// Starts them.
    ///
    /// # Errors
    /// When they cannot be started.
    pub fn start() -> std::io::Result<Self> {
        let threads = Builder::new_multi_thread()
            .worker_threads(WRITER_THREADS)
            .thread_name("writer")
            .enable_all()
            .build()?;
        Ok(Self(Some(threads)))
    }

    /// To run something there.
    pub fn handle(&self) -> &Handle {
        self.0.as_ref().expect("they run until this is dropped").handle()
    }
}

impl Drop for WriterThreads {
    fn drop(&mut self) {
        // Whatever is still under way was given its time, see `Tasks::finish`.
        if let Some(threads) = self.0.take() {
            threads.shutdown_background();
        }
    }
}

/// A thread for each core.
///
/// # Errors
/// When they cannot be started.
pub fn new() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().event_interval(EVENT_INTERVAL).enable_all().build()
}
