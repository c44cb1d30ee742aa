//! Ctrl-C while an agent works: once asks it to stop, twice leaves.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// A flag that is up once somebody wants the agent to stop.
pub(super) fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag down and raises it. Without handlers the
        // signals do what they always did, and the next command closes the session.
        let leave = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop));
        let _ = leave.and_then(|_| flag::register(signal, Arc::clone(&stop)));
    }
    stop
}
