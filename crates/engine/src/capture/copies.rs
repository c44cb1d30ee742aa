//! Conversations that heirloom itself gave to an agent. Which they are is kept, so that they go with the session
//! whose words they hold.

use std::fs;
use std::path::{Path, PathBuf};

use heirloom_agents::{Agent, by_name};
use heirloom_core::id::SessionId;
use heirloom_ledger::opencode::Opencode;
use heirloom_repo::file;
use heirloom_repo::{FileError, child, make_private_dir, replace_private};
use serde::{Deserialize, Serialize};

use crate::here::Here;
use crate::recall::given;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Copy {
    pub(crate) agent: String,
    /// The agent's own id of the conversation.
    pub(crate) id: String,
    /// Its file; `None` where the agent keeps a database, which only its own program changes, or chooses the file
    /// itself.
    pub(crate) path: Option<PathBuf>,
}

fn directory(home: &Path, session: SessionId) -> PathBuf {
    home.join("capture").join("copies").join(session.to_string())
}

/// Remembers a copy of what was said in a session, before it is made.
pub(crate) fn remember(home: &Path, session: SessionId, copy: &Copy) -> Result<(), FileError> {
    let path = directory(home, session).join(format!("{}.json", copy.id));
    let failed = |source| FileError { doing: "write", path: path.clone(), source };
    make_private_dir(&directory(home, session)).map_err(failed)?;
    let text = serde_json::to_vec(copy).map_err(|error| failed(error.into()))?;
    replace_private(&path, &text).map_err(failed)
}

/// Removes the copies of what was said in a session. Returns how many went, and adds to `left` where those are
/// that only their agent can delete.
pub(crate) fn remove(here: &Here, session: SessionId, left: &mut Vec<PathBuf>) -> usize {
    let directory = directory(&here.home, session);
    let mut gone = 0;
    for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
        let known = file::read(entry.path()).ok().and_then(|text| read(&text));
        match known {
            Some(copy) if is_gone(here, &copy, left) => gone += 1,
            _ => continue,
        }
        let _ = file::remove_file(entry.path());
    }
    let _ = fs::remove_dir(&directory);
    gone
}

fn read(text: &[u8]) -> Option<Copy> {
    serde_json::from_slice(text).ok()
}

/// Removes one copy, if it is what it is said to be: a transcript of that conversation and nothing else.
fn is_gone(here: &Here, copy: &Copy, left: &mut Vec<PathBuf>) -> bool {
    let transcripts = by_name(&copy.agent).and_then(Agent::transcripts);
    let found = || transcripts?.find(&here.env, &copy.id).map(|found| found.path);
    let Some(path) = copy.path.clone().or_else(found) else {
        let database = transcripts.and_then(|kept| kept.database(&here.env));
        let Some(database) = database.filter(|path| path.exists()) else { return true };
        // Its program may say yes to an id that it did not look for.
        let is_deleted = is_deleted(here, copy) && !is_in(&database, &copy.id);
        left.extend((!is_deleted).then_some(database));
        return is_deleted;
    };
    let is_it = transcripts
        .and_then(|kept| kept.identify(&path))
        .is_some_and(|found| found.agent_session_id == copy.id);
    is_it && (file::remove_file(&path).is_ok() || !path.exists())
}

/// Whether a conversation is in a database. One that cannot be read is left to its own program's word.
fn is_in(database: &Path, id: &str) -> bool {
    Opencode::open(database).and_then(|open| open.has(id)).unwrap_or(false)
}

/// Lets the agent's own program delete a copy that lies in its database.
fn is_deleted(here: &Here, copy: &Copy) -> bool {
    let Some(agent) = by_name(&copy.agent) else { return false };
    let arguments = agent.transcripts().and_then(|kept| kept.delete_args(&copy.id));
    let Some(arguments) = arguments else { return false };
    let settings = here.settings(&[]).ok();
    let programs = crate::agents::programs(here, settings.as_ref().map(|loaded| &loaded.settings));
    let Ok(program) = programs.resolve(agent.name(), &here.env) else { return false };
    let mut command = child::leader(&program.path, &here.env);
    command.args(&program.args).args(arguments).current_dir(&here.place.root);
    let ended = given::run(&mut command, "", given::PATIENCE);
    ended.is_ok_and(|(status, _)| status.is_some_and(|status| status.success()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_says_it_deleted_a_copy_is_believed_once_the_copy_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let user = dir.path().join("user");
        let database = user.join(".local/share/opencode/opencode.db");
        fs::create_dir_all(database.parent().unwrap()).unwrap();
        let db = rusqlite::Connection::open(&database).unwrap();
        db.execute_batch("CREATE TABLE session (id TEXT); INSERT INTO session VALUES ('ses_one')")
            .unwrap();
        let env = crate::here::Env::from([
            ("HOME".into(), user.into()),
            ("HEIRLOOM_HOME".into(), dir.path().join("home").into()),
            ("HEIRLOOM_AGENT_OPENCODE".into(), "/bin/true".into()),
        ]);
        let here = Here::look(dir.path(), env).unwrap();
        let session: SessionId = "11111111-1111-4111-8111-111111111111".parse().unwrap();
        let copy = Copy { agent: "opencode".to_owned(), id: "ses_one".to_owned(), path: None };
        remember(&here.home, session, &copy).unwrap();
        let mut left = Vec::new();
        assert_eq!((remove(&here, session, &mut left), &left), (0, &vec![database]));
        db.execute("DELETE FROM session", ()).unwrap();
        left.clear();
        assert_eq!((remove(&here, session, &mut left), left), (1, Vec::new()));
    }
}
