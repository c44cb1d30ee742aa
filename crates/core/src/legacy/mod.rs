//! What other tools left behind, in their own formats. Their users switch by installing heirloom; what they have is
//! read as it is and turned into what heirloom works with, here and nowhere else. Nothing new is ever put into these
//! formats, but for a state that is exported for a colleague who has not switched yet.

pub mod requirements;
pub mod requirements_state;
pub mod work_runs;
