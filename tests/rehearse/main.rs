//! Rehearses a sale over HTTP, with people who behave as people do.

fn main() {}
