//! Ids that must be UUIDs, because the agent would take another word for something else: a
//! title, a number in a list, or a new conversation.

use heirloom_core::id::SessionId;

use crate::launch::LaunchError;

/// `id`, if it is a UUID in the hyphenated form, which agents compare as text.
pub(crate) fn checked<'a>(agent: &'static str, id: &'a str) -> Result<&'a str, LaunchError> {
    if id.len() == 36 && id.parse::<SessionId>().is_ok() {
        return Ok(id);
    }
    let expected = "a UUID";
    Err(LaunchError::Invalid { agent, setting: "agent session id", value: id.to_owned(), expected })
}
