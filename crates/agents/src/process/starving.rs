//! Whether an agent waits for the end of its stdin.
//!
//! A program that speaks the protocol reads its prompt, begins, and listens on the side. One that
//! reads everything first, such as a script that stands in for an agent, would wait for us as long
//! as we wait for it. The kernel knows which it is: such a program sits in a plain `read` of its
//! descriptor 0. Where the kernel does not show it, nobody is found to starve.

pub(super) use crate::system::is_reading_stdin as is_starving;
