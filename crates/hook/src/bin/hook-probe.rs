//! The hook alone, for measuring: `hook-probe hook AGENT EVENT`, or `hook-probe nothing`, which only
//! reads its stdin.

use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == "hook" => heirloom_hook::run(arguments),
        _ => {
            let mut text = Vec::new();
            let _ = std::io::stdin().read_to_end(&mut text);
            ExitCode::SUCCESS
        }
    }
}
