//! Whether a tool use is one that nothing gates.

use crate::guard::policy::Policy;
use crate::guard::requirement::Requirement;
use crate::guard::trigger::{ToolUse, Workdir};

/// Asked once for the person's own requirements and once for the repository's, however many there are:
/// matching globs for each requirement was most of what a hook cost.
pub(super) struct Exempt<'a> {
    policy: &'a Policy,
    tool_use: &'a ToolUse<'a>,
    place: &'a Workdir<'a>,
    known: [Option<bool>; 2],
}

impl<'a> Exempt<'a> {
    pub(super) fn new(
        policy: &'a Policy,
        tool_use: &'a ToolUse<'a>,
        place: &'a Workdir<'a>,
    ) -> Self {
        Self { policy, tool_use, place, known: [None; 2] }
    }

    pub(super) fn is_from(&mut self, requirement: &Requirement) -> bool {
        let Self { policy, tool_use, place, known } = self;
        *known[usize::from(requirement.own)]
            .get_or_insert_with(|| tool_use.is_exempt(policy.exempt_from(requirement), place))
    }
}
