//! Reading the payload: leniently, and never for ever.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long the agent may be silent before what it said is taken as all, if that can be all. On a busy machine an
/// agent starts its hook well before it gets to write.
const SILENCE: Duration = Duration::from_secs(1);
/// How long reading may take altogether.
const DEADLINE: Duration = Duration::from_secs(5);
/// The most that is read.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What is on stdin, until it ends or nothing more comes.
pub(crate) fn read() -> Vec<u8> {
    let stdin = io::stdin();
    let mut payload = Vec::with_capacity(16 * 1024);
    let mut begun: Option<Instant> = None;
    while payload.len() < MOST_BYTES {
        let spent = begun.get_or_insert_with(Instant::now).elapsed();
        let Some(left) = DEADLINE.checked_sub(spent) else { break };
        if !is_ready(&stdin, left.min(SILENCE)) {
            if can_be_all(&payload) {
                break;
            }
            continue;
        }
        payload.reserve(16 * 1024);
        match rustix::io::read(&stdin, rustix::buffer::spare_capacity(&mut payload)) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => break,
        }
    }
    payload
}

/// Whether everything that was begun in a payload is closed. That it ends in a brace says nothing: so does many a
/// piece of the code that an agent is about to write.
fn can_be_all(payload: &[u8]) -> bool {
    let (mut depth, mut is_begun, mut in_text, mut is_escaped) = (0_i32, false, false, false);
    for byte in payload {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                is_begun = true;
            }
            b'}' | b']' if !in_text => depth -= 1,
            _ => {}
        }
    }
    is_begun && depth == 0 && !in_text
}

/// Whether there is something to read, an end included.
fn is_ready(stdin: &io::Stdin, wait: Duration) -> bool {
    let wait = Timespec {
        tv_sec: i64::try_from(wait.as_secs()).unwrap_or(1),
        tv_nsec: wait.subsec_nanos().into(),
    };
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&wait)) {
        Ok(count) => count > 0,
        // What cannot be waited for can still be read.
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_ends_only_what_can_be_all() {
        for part in
            ["", "\n", "{", "{\"session_id\":\"x\",", "{\"a\":{}, \"b\"", "{\"a\":\"fn x() {}"]
        {
            assert!(!can_be_all(part.as_bytes()), "{part:?}");
        }
        assert!(can_be_all(br#"{"a":"} \" {"}"#));
        assert!(can_be_all(b"{}") && can_be_all(b"{\"session_id\":\"x\"}\n"));
    }
}
