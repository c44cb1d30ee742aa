//! Deciding which repository a directory is that says something else than before, or is new.

use std::path::Path;

use heirloom_core::event::{RepoLinked, RepoNamed};
use heirloom_core::repo::{self, Claim, DirectoryHistory, Joined, Marks, RepoId, RepoKey};
use heirloom_ledger::{Error, Ledger, RepoPlace};

use super::{Look, Offer, mint, scope};
use crate::capture;
use crate::here::Here;

/// A directory, what it says, and what is known of all directories.
pub(super) struct Settling<'a> {
    pub(super) here: &'a Here,
    pub(super) path: &'a str,
    pub(super) keys: Vec<RepoKey>,
    pub(super) marks: Marks,
    pub(super) places: Vec<RepoPlace>,
}

impl Settling<'_> {
    pub(super) fn settle(self, ledger: &mut Ledger, look: Look) -> Result<Option<Offer>, Error> {
        let before = self.before().cloned();
        if let Some(before) = &before
            && before.named.keys == self.keys
            && before.named.marks.inode == self.marks.inode
            && before.named.marks.remotes == self.marks.remotes
        {
            return self.remind(ledger, before, look);
        }
        let known = self.known(ledger)?;
        if self.keys.is_empty() && known == DirectoryHistory::default() {
            return self.look_alike(ledger, look);
        }
        if self.keys.is_empty()
            && before.is_none()
            && known.by_inode.is_none()
            && look != Look::AtWork
        {
            return Ok(None);
        }
        if known.has_moved {
            self.give_up_path(ledger)?;
        }
        let claims = self.claims(ledger)?;
        let joined = repo::join(self.path, &known, &claims, mint);
        let is_offered = look.is_for_a_person() && !joined.refused.is_empty();
        let offer = joined.refused.first().filter(|_| is_offered).map(refusal);
        self.record(ledger, &joined, is_offered)?;
        if !self.keys.is_empty() && !self.here.leaves_nothing() {
            // Without it an older checkout goes by its path, which leads to the same repository here.
            let _ = self.here.place.remember_key(&repo::key_file(&self.keys));
        }
        Ok(offer)
    }

    fn before(&self) -> Option<&RepoPlace> {
        self.places.iter().find(|place| place.is_own && place.named.path == self.path)
    }

    fn known(&self, ledger: &Ledger) -> Result<DirectoryHistory, Error> {
        let same = |place: &&RepoPlace| {
            place.is_own
                && place.named.marks.inode.is_some()
                && place.named.marks.inode == self.marks.inode
        };
        let by_inode = self.places.iter().find(same).map(|place| place.repo.clone());
        let by_path = match self.before() {
            Some(before) => Some(before.repo.clone()),
            None => ledger.has_recorded(self.path)?.then(|| RepoId::new(self.path)),
        };
        let has_moved = by_inode.is_none() && self.before().is_some_and(|it| self.has_moved(it));
        Ok(DirectoryHistory { by_inode, by_path, has_moved })
    }

    /// Whether the directory that was here was seen at another path since.
    fn has_moved(&self, before: &RepoPlace) -> bool {
        let inode = before.named.marks.inode;
        self.places.iter().any(|place| {
            place.is_own
                && place.named.path != self.path
                && inode.is_some()
                && place.named.marks.inode == inode
                && place.at >= before.at
        })
    }

    /// A repository that is called by the path it was moved away from is called something else, so that
    /// what is there now is not taken for it.
    fn give_up_path(&self, ledger: &mut Ledger) -> Result<(), Error> {
        if ledger.repository(self.path)? != self.path {
            return Ok(());
        }
        let linked = RepoLinked { from: RepoId::new(self.path), by: "moved".to_owned() };
        let id: RepoId = mint().into();
        ledger.append(self.here.clock.now(), scope(&id), &linked)?;
        capture::rename(&self.here.home, self.path, id.as_str());
        Ok(())
    }

    fn claims(&self, ledger: &Ledger) -> Result<Vec<Claim>, Error> {
        let claim = |key: &RepoKey| {
            let id = RepoId::new(ledger.repository(key.as_str())?);
            let is_vouched_for =
                self.places.iter().any(|place| place.repo == id && self.vouches(place));
            let has_history = ledger.has_recorded(key.as_str())?;
            Ok(Claim { key: key.clone(), id, has_history, is_vouched_for })
        };
        self.keys.iter().map(claim).collect()
    }

    /// Whether the directory comes from where `place` comes from, from it, or is it.
    fn vouches(&self, place: &RepoPlace) -> bool {
        let is_local = |remote: &str| remote.starts_with('/');
        let marks = &place.named.marks;
        let has_remote = self.marks.remotes.iter().any(|remote| {
            // A path of another machine says nothing about this one's.
            (place.is_own && *remote == place.named.path)
                || (marks.remotes.contains(remote) && (place.is_own || !is_local(remote)))
        });
        // Another home on this machine: nobody elsewhere knows its numbers.
        let is_same = place.named.path == self.path
            && self.marks.inode.is_some_and(|inode| inode.born_ms.is_some())
            && marks.inode == self.marks.inode;
        has_remote || is_same
    }

    /// A directory that nobody knows and that looks like one that is gone.
    fn look_alike(self, ledger: &mut Ledger, look: Look) -> Result<Option<Offer>, Error> {
        if !look.is_for_a_person() {
            return Ok(None);
        }
        let is_gone = |place: &&RepoPlace| place.is_own && !Path::new(&place.named.path).exists();
        let mut roots = None;
        let is_alike = |place: &&RepoPlace| {
            let known = &place.named.marks;
            let has = |remote: &String| known.remotes.contains(remote);
            self.marks.remotes.iter().any(has)
                || (!known.roots.is_empty()
                    && *roots.get_or_insert_with(|| self.here.place.roots()) == known.roots)
        };
        let alike = self.places.iter().filter(is_gone).find(is_alike);
        let Some(path) = alike.map(|place| place.named.path.clone()) else { return Ok(None) };
        let id = RepoId::new(self.path);
        self.record(ledger, &Joined { id, links: Vec::new(), refused: Vec::new() }, true)?;
        let why = format!("this looks like the repository that was at {path}");
        Ok(Some(Offer { link: path, why }))
    }

    /// What a hook found and could not say.
    fn remind(
        &self,
        ledger: &mut Ledger,
        before: &RepoPlace,
        look: Look,
    ) -> Result<Option<Offer>, Error> {
        let refused = before.named.refused.first();
        let Some(key) = refused.filter(|_| look.is_for_a_person() && !before.named.offered) else {
            return Ok(None);
        };
        let offer = refusal(key);
        let named = RepoNamed { offered: true, ..before.named.clone() };
        ledger.append(self.here.clock.now(), scope(&before.repo), &named)?;
        Ok(Some(offer))
    }

    fn record(&self, ledger: &mut Ledger, joined: &Joined, offered: bool) -> Result<(), Error> {
        let roots = self.before().map(|before| before.named.marks.roots.clone());
        let named = RepoNamed {
            path: self.path.to_owned(),
            keys: self.keys.clone(),
            marks: Marks { roots: roots.unwrap_or_default(), ..self.marks.clone() },
            refused: joined.refused.clone(),
            offered,
        };
        ledger.append_all(self.here.clock.now(), |appender| {
            for from in joined.links.iter().filter(|from| from.as_str() != self.path) {
                let linked = RepoLinked { from: from.clone(), by: "keys".to_owned() };
                appender.append(scope(&joined.id), &linked)?;
            }
            appender.append(scope(&joined.id), &named).map(drop)
        })?;
        for from in &joined.links {
            capture::rename(&self.here.home, from.as_str(), joined.id.as_str());
        }
        Ok(())
    }
}

fn refusal(key: &RepoKey) -> Offer {
    let why = format!("this directory claims to be {key}, whose history it has not adopted");
    Offer { link: key.to_string(), why }
}
