//! Searching: a bounded number of rows is looked at, however many there are.
//!
//! A word that few messages have is looked up wholly. Where there is one, the frequent words are only
//! looked up in what the rare ones found. Where there is none, the newest messages that have all of the
//! words are looked at, and where those are few, the newest of each word.

use std::collections::HashSet;

use heirloom_core::recall::{Kind, Query, score};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Transaction, TransactionBehavior};

use super::filter::Search;
use super::found::{Candidate, Results};
use super::lookup::{Lookup, approximate};
use super::quick::Quick;
use super::rank::{Group, Tally};
use super::{Index, PAGE_BITS, ranges};
use crate::error::Error;

/// A word that more messages have is frequent.
const RARE: usize = 1000;

/// How many of the newest rows of frequent words are looked at.
const NEWEST: usize = 5000;

/// How many conversations that rare words found are looked at for frequent ones.
const CLOSER: usize = 12;

/// How many messages are read to see whether they hold a quote.
const READ: usize = 300;

/// A term that is looked up.
pub(super) struct Sought {
    term: String,
    rows: Vec<i64>,
    /// What part of its worth counts.
    pub(super) weight: f64,
    is_rare: bool,
    /// How rare it is among messages, and among conversations.
    rarity: f64,
    pub(super) group_rarity: f64,
}

impl Index {
    /// What fits best, best first. Where something is quoted, `holds` says whether a message holds it.
    pub fn search(
        &self,
        search: &Search<'_>,
        holds: &dyn Fn(&Candidate<'_>) -> bool,
    ) -> Result<Results, Error> {
        let now = search.now.unwrap_or(Timestamp::UNIX_EPOCH);
        let today = || now.to_zoned(TimeZone::system()).date();
        let query = Query::parse(search.text, &today, &mut self.terms.borrow_mut());
        self.run("search the index of", |db| {
            // One look at the file: each question of its own would lock it and let go of it again.
            let _reading = Transaction::new_unchecked(db, TransactionBehavior::Deferred)?;
            let lookup = Lookup::new(db, search)?;
            let mut at_work = AtWork { lookup, search, query, now, results: Results::default() };
            at_work.work(holds)?;
            Ok(at_work.results)
        })
    }
}

pub(super) struct AtWork<'a> {
    pub(super) lookup: Lookup<'a>,
    pub(super) search: &'a Search<'a>,
    pub(super) query: Query,
    pub(super) now: Timestamp,
    results: Results,
}

impl AtWork<'_> {
    fn work(&mut self, holds: &dyn Fn(&Candidate<'_>) -> bool) -> rusqlite::Result<()> {
        let mut words = self.words()?;
        let groups = if words.is_empty() {
            self.of_the_time()?
        } else if self.query.quotes.is_empty() {
            self.groups(&mut words)?
        } else {
            self.quoting(&words, holds)?
        };
        self.results.total = groups.len();
        self.results.hits = self.ranked(groups, &words)?;
        Ok(())
    }

    /// Looks the words of the question up.
    fn words(&mut self) -> rusqlite::Result<Vec<Sought>> {
        let mut words: Vec<Sought> = Vec::new();
        let asked = self.query.words.clone();
        let last = asked.len().saturating_sub(1);
        // More of a word is only asked for where it stays alone: then that is all that is asked.
        let most = if asked.len() == 1 && !self.search.is_typing { NEWEST } else { RARE + 1 };
        for (place, word) in asked.iter().enumerate() {
            let is_prefix = word.is_prefix || (self.search.is_typing && place == last);
            let rows = if is_prefix && word.is_prefix {
                Vec::new()
            } else {
                self.lookup.holding(&word.term, most)?
            };
            if !rows.is_empty() {
                self.push(&mut words, &word.term, (rows, most), 1.0);
            }
            if is_prefix || (words.last().is_none_or(|last| last.term != word.term)) {
                self.otherwise(&mut words, word, is_prefix)?;
            }
        }
        for joined in self.query.joined.clone() {
            let rows = self.lookup.holding(&joined, RARE + 1)?;
            if !rows.is_empty() {
                self.push(&mut words, &joined, (rows, RARE + 1), 1.0);
            }
        }
        Ok(words)
    }

    /// What a word that nothing has stands for: its parts, what begins like it, or what it was meant to be.
    fn otherwise(
        &mut self,
        words: &mut Vec<Sought>,
        word: &heirloom_core::recall::query::Word,
        is_prefix: bool,
    ) -> rusqlite::Result<()> {
        let mut found = false;
        if !is_prefix {
            for part in &word.parts {
                let rows = self.lookup.holding(part, RARE + 1)?;
                found |= !rows.is_empty();
                if !rows.is_empty() {
                    self.push(words, part, (rows, RARE + 1), 1.0);
                }
            }
        }
        if found || word.is_quoted {
            return Ok(());
        }
        let typed = word.typed.to_lowercase().replace('_', "");
        if typed.chars().count() >= if is_prefix { 2 } else { 3 } {
            let rows = self.lookup.beginning(&typed, RARE + 1)?;
            if !rows.is_empty() {
                self.push(words, &typed, (rows, RARE + 1), score::BEGINNING);
                self.results.sought.terms.remove(&typed);
                self.results.sought.beginnings.push(typed);
                return Ok(());
            }
        }
        if is_prefix && words.iter().any(|known| known.term == word.term) {
            return Ok(());
        }
        if let Some(near) = self.lookup.nearest(&word.term)? {
            let rows = self.lookup.holding(&near, RARE + 1)?;
            if !rows.is_empty() {
                let weight = score::near(self.query.words.len());
                self.push(words, &near, (rows, RARE + 1), weight);
                self.results.instead.push((word.typed.clone(), near));
                return Ok(());
            }
        }
        self.results.unknown.push(word.typed.clone());
        Ok(())
    }

    /// Adds a term with the newest rows that hold it, and the most that were asked for.
    fn push(
        &mut self,
        words: &mut Vec<Sought>,
        term: &str,
        (rows, most): (Vec<i64>, usize),
        weight: f64,
    ) {
        if words.iter().any(|known| known.term == term && known.weight >= weight) {
            return;
        }
        let is_rare = rows.len() <= RARE;
        let having = self.lookup.having(&rows, most);
        let rarity = score::rarity(self.lookup.messages, having);
        let share = self.lookup.groups / self.lookup.messages.max(1.0);
        let groups = (having * share).max(1.0);
        let group_rarity = score::rarity(self.lookup.groups, groups);
        self.results.sought.terms.insert(term.to_owned());
        let term = term.to_owned();
        words.push(Sought { term, rows, weight, is_rare, rarity, group_rarity });
    }

    fn groups(&self, words: &mut [Sought]) -> rusqlite::Result<Quick<Group, Tally>> {
        let mut groups = Quick::default();
        if words.iter().any(|word| word.is_rare) {
            for (number, word) in words.iter_mut().enumerate().filter(|(_, word)| word.is_rare) {
                self.tally(&mut groups, number, word, &word.rows)?;
                let has_it = |tally: &&Tally| tally.holding.last().is_some_and(|it| it.0 == number);
                let having = groups.values().filter(has_it).count();
                let having = approximate(i64::try_from(having).unwrap_or(0));
                word.group_rarity = score::rarity(self.lookup.groups, having);
            }
            self.look_closer(&mut groups, words)?;
            return Ok(groups);
        }
        if let [word] = words
            && word.rows.len() > RARE + 1
        {
            self.tally(&mut groups, 0, word, &word.rows)?;
            return Ok(groups);
        }
        let terms: Vec<&str> = words.iter().map(|word| word.term.as_str()).collect();
        let all = self.lookup.holding_all(&terms, NEWEST)?;
        for (number, word) in words.iter().enumerate() {
            self.tally(&mut groups, number, word, &all)?;
        }
        if groups.len() < 10 && words.len() > 1 {
            groups.clear();
            for (number, word) in words.iter().enumerate() {
                let rows = if word.weight < 1.0 {
                    word.rows.clone()
                } else {
                    self.lookup.holding(&word.term, NEWEST)?
                };
                self.tally(&mut groups, number, word, &rows)?;
            }
        } else if groups.is_empty() {
            for (number, word) in words.iter().enumerate() {
                self.tally(&mut groups, number, word, &word.rows)?;
            }
        }
        Ok(groups)
    }

    /// Looks the frequent words up in the best of what the rare ones found.
    fn look_closer(
        &self,
        groups: &mut Quick<Group, Tally>,
        words: &[Sought],
    ) -> rusqlite::Result<()> {
        if words.iter().all(|word| word.is_rare) {
            return Ok(());
        }
        let mut best: Vec<(f64, Group)> =
            groups.iter_mut().map(|(group, tally)| (tally.worth(), *group)).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        best.truncate(CLOSER.max(self.search.limit.min(40)));
        let mut pages: Vec<i64> = Vec::new();
        for (_, (source, row)) in &best {
            if *row == 0 {
                pages.extend(self.lookup.pages_of(*source)?);
            } else {
                pages.push(row >> PAGE_BITS);
            }
        }
        pages.sort_unstable();
        pages.dedup();
        let ranges = ranges(&pages);
        let best: HashSet<Group> = best.into_iter().map(|(_, group)| group).collect();
        for (number, word) in words.iter().enumerate().filter(|(_, word)| !word.is_rare) {
            let mut more = Quick::default();
            for range in &ranges {
                let rows = self.lookup.among(&word.term, *range)?;
                self.tally(&mut more, number, word, &rows)?;
            }
            for (group, tally) in more.into_iter().filter(|(group, _)| best.contains(group)) {
                let known = groups.entry(group).or_default();
                known.rows.extend(tally.rows);
                known.holding.extend(tally.holding);
            }
        }
        Ok(())
    }

    /// Adds what a word is worth in each of the rows.
    fn tally(
        &self,
        groups: &mut Quick<Group, Tally>,
        number: usize,
        word: &Sought,
        rows: &[i64],
    ) -> rusqlite::Result<()> {
        let is_timed = self.search.since.is_some() || self.search.until.is_some();
        // Rows come in order, so most are on the page of the one before.
        let mut rest = rows;
        while let [first, ..] = rest {
            let number_of_page = first >> PAGE_BITS;
            let end = rest.iter().position(|row| row >> PAGE_BITS != number_of_page);
            let (of_page, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            let Some(page) = self.lookup.page(*first)? else { continue };
            let mut said: Vec<(i64, f64)> = Vec::with_capacity(of_page.len());
            let times: Vec<_> =
                if is_timed { self.lookup.details(&page)?.times().collect() } else { Vec::new() };
            for row in of_page {
                let place = place(*row);
                let Some(kind) = page.kind(place) else { continue };
                if is_timed && !self.is_in_time(times.get(place).copied().flatten()) {
                    continue;
                }
                let worth = word.rarity * self.lookup.worth(page.length(place));
                let worth = worth * word.weight * kind.weight();
                if is_alone(kind) {
                    let tally = groups.entry((page.source, *row)).or_default();
                    tally.add(number, &[(*row, worth)]);
                    tally.is_note = matches!(kind, Kind::Note(_));
                } else {
                    said.push((*row, worth));
                }
            }
            if !said.is_empty() {
                let tally = groups.entry((page.source, 0)).or_default();
                tally.add(number, &said);
                tally.messages = page.messages;
            }
        }
        Ok(())
    }

    fn is_in_time(&self, at: Option<Timestamp>) -> bool {
        let (since, until) = (self.search.since, self.search.until);
        match at {
            Some(at) => {
                since.is_none_or(|since| at >= since) && until.is_none_or(|until| at <= until)
            }
            // Nobody knows when: it cannot be said to lie in a time.
            None => since.is_none() && until.is_none(),
        }
    }

    /// What holds the very words.
    fn quoting(
        &mut self,
        words: &[Sought],
        holds: &dyn Fn(&Candidate<'_>) -> bool,
    ) -> rusqlite::Result<Quick<Group, Tally>> {
        let quoted: Vec<String> = self
            .query
            .words
            .iter()
            .filter(|word| word.is_quoted)
            .map(|word| word.term.clone())
            .collect();
        let terms: Vec<&str> = quoted.iter().map(String::as_str).collect();
        let all =
            if terms.is_empty() { Vec::new() } else { self.lookup.holding_all(&terms, NEWEST)? };
        let mut groups = Quick::default();
        let all_set: HashSet<i64> = all.iter().copied().collect();
        for (number, word) in words.iter().enumerate() {
            if quoted.contains(&word.term) {
                self.tally(&mut groups, number, word, &all)?;
            } else {
                let rows: Vec<i64> =
                    word.rows.iter().copied().filter(|row| all_set.contains(row)).collect();
                self.tally(&mut groups, number, word, &rows)?;
            }
        }
        let mut rows: Vec<(f64, i64, Group)> = Vec::new();
        for (group, tally) in &mut groups {
            tally.settle();
            rows.extend(tally.rows.iter().map(|(row, worth)| (*worth, *row, *group)));
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        self.results.unread = rows.len().saturating_sub(READ);
        let mut kept = HashSet::new();
        for (worth, row, group) in rows.iter().take(READ) {
            let key = self.lookup.source(group.0)?.key.clone();
            let Some(passage) = self.passage(*row, *worth)? else { continue };
            if holds(&Candidate { key: &key, passage: &passage }) {
                kept.insert(*row);
            }
        }
        for tally in groups.values_mut() {
            tally.rows.retain(|(row, _)| kept.contains(row));
        }
        groups.retain(|_, tally| !tally.rows.is_empty());
        Ok(groups)
    }

    /// A question that names a time and nothing else that is known: what was said then.
    fn of_the_time(&self) -> rusqlite::Result<Quick<Group, Tally>> {
        let mut groups: Quick<Group, Tally> = Quick::default();
        let Some(named) = self.query.named else { return Ok(groups) };
        let (first, last) = named.span();
        let second = |date: jiff::civil::Date| {
            date.to_zoned(TimeZone::system()).map_or(0, |zoned| zoned.timestamp().as_second())
        };
        for row in self.lookup.during(second(first), second(last) + 86_399, 200)? {
            let Some(page) = self.lookup.page(row)? else { continue };
            let source = self.lookup.source(page.source)?;
            let is_here = self
                .search
                .repo
                .is_none_or(|names| source.repo.as_ref().is_some_and(|repo| names.contains(repo)));
            let is_agents =
                self.search.agent.is_none_or(|agent| source.agent.as_deref() == Some(agent));
            if is_here && is_agents && self.search.kinds.is_empty() && self.search.role.is_none() {
                groups.entry((page.source, 0)).or_default().rows.push((row, 0.1));
            }
        }
        Ok(groups)
    }
}

/// Whether it stands for itself and not for the conversation it is in.
const fn is_alone(kind: Kind) -> bool {
    matches!(kind, Kind::Note(_) | Kind::Session)
}

pub(super) fn place(row: i64) -> usize {
    usize::try_from(row & ((1 << PAGE_BITS) - 1)).unwrap_or(0)
}
