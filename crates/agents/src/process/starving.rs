//! Whether an agent waits for the end of its stdin.
//!
//! A program that speaks the protocol reads its prompt, begins, and listens on the side. One that
//! reads everything first, such as a script that stands in for an agent, would wait for us as long
//! as we wait for it. The kernel knows which it is: such a program sits in a plain `read` of its
//! descriptor 0.

/// Whether a process of the group of `leader` sits in a read of its stdin.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn is_starving(leader: u32) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else { return false };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let stdin = |pid: u32| std::fs::read_link(format!("/proc/{pid}/fd/0")).ok();
    let Some(own) = stdin(leader) else { return false };
    pids.filter(|pid| is_reading_stdin(*pid)).any(|pid| stdin(pid).as_ref() == Some(&own))
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn is_reading_stdin(pid: u32) -> bool {
    const READ_FROM_STDIN: &str = if cfg!(target_arch = "x86_64") { "0 0x0 " } else { "63 0x0 " };
    let call = std::fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    call.starts_with(READ_FROM_STDIN)
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn is_starving(_leader: u32) -> bool {
    false
}
