//! The hook alone, for measuring: `hook-probe hook AGENT EVENT`.

use std::process::ExitCode;

fn main() -> ExitCode {
    heirloom_hook::run(std::env::args_os().skip(2))
}
