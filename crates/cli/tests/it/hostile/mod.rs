//! Repositories and agents that mean no good: what they can make heirloom show, read, write and run.

mod elsewhere;
mod empty;
mod environment;
mod every;
mod files;
mod opened;
mod shown;
mod tricks;
