//! Ranking: what each conversation and note is worth, and what is shown of the best.

use heirloom_core::recall::score;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::found::{Hit, Passage};
use super::lookup::approximate;
use super::quick::Quick;
use super::search::{AtWork, Sought, place};

/// How many places of a conversation are returned.
const PLACES: usize = 3;

/// A conversation by its source, or a note by its row as well.
pub(super) type Group = (i64, i64);

/// What is known of a group.
#[derive(Default)]
pub(super) struct Tally {
    /// Rows, and what they are worth for one word; [`Tally::settle`] puts the words together.
    pub(super) rows: Vec<(i64, f64)>,
    /// How many rows hold each word.
    pub(super) holding: Vec<(usize, f64)>,
    /// How many messages the conversation has.
    pub(super) messages: f64,
    pub(super) is_note: bool,
}

/// A group of which it is known when its best message was said, and with that what it is worth.
struct Dated {
    group: Group,
    tally: Tally,
    score: f64,
    at: Option<Timestamp>,
}

impl Tally {
    pub(super) fn add(&mut self, number: usize, rows: &[(i64, f64)]) {
        self.rows.extend_from_slice(rows);
        let more = approximate(i64::try_from(rows.len()).unwrap_or(0));
        match self.holding.last_mut() {
            Some((last, holding)) if *last == number => *holding += more,
            _ => self.holding.push((number, more)),
        }
    }

    /// Makes of each row one, worth what it is for all words together.
    pub(super) fn settle(&mut self) {
        self.rows.sort_by_key(|(row, _)| *row);
        self.rows.dedup_by(|(row, worth), (kept, sum)| {
            let is_same = row == kept;
            if is_same {
                *sum += *worth;
            }
            is_same
        });
    }

    /// What its rows are worth together.
    pub(super) fn worth(&mut self) -> f64 {
        self.settle();
        let mut worths: Vec<f64> = self.rows.iter().map(|(_, worth)| *worth).collect();
        score::together(&mut worths)
    }
}

impl AtWork<'_> {
    /// The best of the groups, best first, with what is shown of each.
    pub(super) fn ranked(
        &self,
        groups: Quick<Group, Tally>,
        words: &[Sought],
    ) -> rusqlite::Result<Vec<Hit>> {
        let mut dated = Vec::new();
        for (worth, group, tally) in self.best(groups, words) {
            dated.extend(self.dated(group, tally, worth)?);
        }
        if self.search.by_time {
            dated.sort_by(|a, b| b.at.cmp(&a.at).then(b.score.total_cmp(&a.score)));
        } else {
            dated.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
        }
        dated.truncate(self.search.limit);
        dated.into_iter().map(|dated| self.hit(dated)).collect()
    }

    /// The groups that can be among the best once it is known when each was, best first.
    fn best(&self, groups: Quick<Group, Tally>, words: &[Sought]) -> Vec<(f64, Group, Tally)> {
        let worth = |(group, mut tally): (Group, Tally)| {
            (self.worth_of(group, &mut tally, words), group, tally)
        };
        let mut all: Vec<(f64, Group, Tally)> = groups.into_iter().map(worth).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let matters_when = self.search.by_time || self.query.named.is_some();
        if let Some((last, ..)) = all.get(self.search.limit).filter(|_| !matters_when) {
            let enough = *last / score::recency(0.0);
            all.truncate(all.partition_point(|(worth, ..)| *worth >= enough));
        }
        all
    }

    /// What a group is worth, whenever it was.
    fn worth_of(&self, group: Group, tally: &mut Tally, words: &[Sought]) -> f64 {
        let of_messages = tally.worth();
        let messages = if group.1 == 0 { tally.messages } else { 1.0 };
        let of_conversation: f64 = tally
            .holding
            .iter()
            .filter_map(|(number, holding)| Some((words.get(*number)?, *holding)))
            .map(|(word, holding)| {
                let mean = self.lookup.mean_messages;
                word.weight * score::in_conversation(word.group_rarity, holding, messages, mean)
            })
            .sum();
        (of_messages + of_conversation) * if tally.is_note { score::NOTE } else { 1.0 }
    }

    /// What a group is worth now that it is known when it was; nothing where its best message was put away. Many are
    /// weighed for one that is shown, so nothing else is read of them yet.
    fn dated(&self, group: Group, tally: Tally, worth: f64) -> rusqlite::Result<Option<Dated>> {
        let is_better =
            |(a, of_a): &&(i64, f64), (b, of_b): &&(i64, f64)| of_a.total_cmp(of_b).then(a.cmp(b));
        let Some((row, _)) = tally.rows.iter().max_by(is_better) else { return Ok(None) };
        let Some(page) = self.lookup.page(*row)?.filter(|page| page.kind(place(*row)).is_some())
        else {
            return Ok(None);
        };
        let at = self.lookup.details(&page)?.times().nth(place(*row)).flatten();
        let mut score = worth;
        if let (Some(named), Some(at)) = (self.query.named, at) {
            let of_the_time = named.worth(at.to_zoned(TimeZone::system()).date());
            score += of_the_time * if tally.is_note { score::NOTE } else { 1.0 };
        }
        if let Some(at) = at {
            score *= score::recency(approximate(self.now.as_second() - at.as_second()) / 86_400.0);
        }
        Ok(Some(Dated { group, tally, score, at }))
    }

    /// What is shown of a group.
    fn hit(&self, dated: Dated) -> rusqlite::Result<Hit> {
        let source = self.lookup.source(dated.group.0)?;
        let mut rows = dated.tally.rows;
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let mut passages = Vec::new();
        for (row, worth) in rows.iter().take(PLACES) {
            passages.extend(self.passage(*row, *worth)?);
        }
        Ok(Hit {
            key: source.key.clone(),
            session: source.session.as_ref().and_then(|id| id.parse().ok()),
            agent: source.agent.clone(),
            repo: source.repo.clone(),
            score: dated.score,
            passages,
        })
    }

    pub(super) fn passage(&self, row: i64, worth: f64) -> rusqlite::Result<Option<Passage>> {
        let Some(page) = self.lookup.page(row)? else { return Ok(None) };
        let place = place(row);
        let Some(kind) = page.kind(place) else { return Ok(None) };
        let details = self.lookup.details(&page)?;
        let (offset, nth) = details.line(place);
        Ok(Some(Passage {
            kind,
            message: page.first + place as u64,
            offset,
            nth,
            note: details.note(place),
            at: details.times().nth(place).flatten(),
            score: worth,
        }))
    }
}
