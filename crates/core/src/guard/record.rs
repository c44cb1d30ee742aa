//! Changes to requirements as the bodies of records, and back.

use jiff::Timestamp;

use super::branch::BranchKey;
use super::state::{Change, ChangeKind, Satisfied};
use crate::event::{
    RequirementCleared, RequirementSatisfied, RequirementTriggered, RequirementUntriggered,
    RequirementWarned,
};
use crate::id::SessionId;

/// The body of the record that says a change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeBody {
    Triggered(RequirementTriggered),
    /// It is no longer triggered.
    Untriggered(RequirementUntriggered),
    /// The session was told about it.
    Warned(RequirementWarned),
    Satisfied(RequirementSatisfied),
    /// It is no longer satisfied.
    Cleared(RequirementCleared),
}

/// What a record says beside its body.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    /// The record's session.
    pub session: Option<SessionId>,
    /// The record's time.
    pub at: Timestamp,
}

impl Change {
    /// The body of the record for this change. `session` is the record's own; a change of another
    /// session than that names it by its agent session id.
    pub fn body(&self, session: Option<SessionId>) -> ChangeBody {
        let name = self.name.clone();
        let branch = self.branch.as_str().to_owned();
        let is_own = session.map(|id| id.to_string()) == self.session;
        let agent_session_id = self.session.clone().filter(|_| !is_own);
        match &self.kind {
            ChangeKind::Triggered(at) => ChangeBody::Triggered(RequirementTriggered {
                name,
                branch,
                tool: None,
                agent_session_id,
                at: Some(*at),
            }),
            ChangeKind::Untriggered => {
                ChangeBody::Untriggered(RequirementUntriggered { name, branch, agent_session_id })
            }
            ChangeKind::Warned(_) => ChangeBody::Warned(RequirementWarned { name, branch }),
            ChangeKind::Satisfied(scope, satisfied) => {
                ChangeBody::Satisfied(RequirementSatisfied {
                    name,
                    scope: *scope,
                    branch,
                    method: satisfied.by.clone(),
                    metadata: satisfied.metadata.clone(),
                    expires_at: satisfied.expires_at,
                    reviewed: satisfied.reviewed.clone(),
                    agent_session_id,
                    at: Some(satisfied.at),
                })
            }
            ChangeKind::Cleared(scope, method) => ChangeBody::Cleared(RequirementCleared {
                name,
                scope: *scope,
                branch,
                method: method.clone(),
                agent_session_id,
            }),
        }
    }
}

impl ChangeBody {
    /// The change that a record says.
    pub fn change(&self, around: Around) -> Change {
        let own = around.session.map(|id| id.to_string());
        let make = |name: &str, branch: &str, session: Option<&String>, kind| Change {
            name: name.to_owned(),
            branch: BranchKey::stored(branch),
            session: session.cloned().or_else(|| own.clone()),
            kind,
        };
        match self {
            Self::Triggered(b) => {
                let kind = ChangeKind::Triggered(b.at.unwrap_or(around.at));
                make(&b.name, &b.branch, b.agent_session_id.as_ref(), kind)
            }
            Self::Untriggered(b) => {
                let kind = ChangeKind::Untriggered;
                make(&b.name, &b.branch, b.agent_session_id.as_ref(), kind)
            }
            Self::Warned(b) => make(&b.name, &b.branch, None, ChangeKind::Warned(around.at)),
            Self::Satisfied(b) => {
                let satisfied = Satisfied {
                    at: b.at.unwrap_or(around.at),
                    by: b.method.clone(),
                    metadata: b.metadata.clone(),
                    expires_at: b.expires_at,
                    reviewed: b.reviewed.clone(),
                };
                let kind = ChangeKind::Satisfied(b.scope, satisfied);
                make(&b.name, &b.branch, b.agent_session_id.as_ref(), kind)
            }
            Self::Cleared(b) => {
                let kind = ChangeKind::Cleared(b.scope, b.method.clone());
                make(&b.name, &b.branch, b.agent_session_id.as_ref(), kind)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::requirement::Scope;
    use serde_json::json;

    #[test]
    fn a_change_is_read_back_from_its_record() {
        let session: SessionId = "cad0ac4d-3933-45ad-9a1c-14aec05bb940".parse().unwrap();
        let at = Timestamp::from_second(10).unwrap();
        let satisfied = Satisfied {
            at,
            by: "skill".to_owned(),
            metadata: json!({"skill": "s"}),
            expires_at: Some(at),
            reviewed: Some("hash".to_owned()),
        };
        for kind in [
            ChangeKind::Triggered(at),
            ChangeKind::Untriggered,
            ChangeKind::Warned(at),
            ChangeKind::Satisfied(Scope::SingleUse, satisfied),
            ChangeKind::Cleared(Scope::Branch, "person".to_owned()),
        ] {
            let own = Change {
                name: "a".to_owned(),
                branch: BranchKey::of_head("0123abcd"),
                session: Some(session.to_string()),
                kind,
            };
            let around = Around { session: Some(session), at };
            assert_eq!(own.body(Some(session)).change(around), own);
            if !matches!(own.kind, ChangeKind::Warned(_)) {
                let imported = Change { session: Some("cad0ac4d".to_owned()), ..own };
                let around = Around { session: None, at };
                assert_eq!(imported.body(None).change(around), imported);
            }
        }
    }

    #[test]
    fn a_record_with_a_scope_that_nobody_knows_is_not_read() {
        let body = json!(
            {"name": "a", "scope": "galaxy", "branch": "m", "method": "person"}
        );
        assert!(serde_json::from_value::<RequirementCleared>(body).is_err());
    }
}
