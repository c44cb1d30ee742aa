//! What agents used: money and tokens, added up by day, repository, agent, model or issue.
//!
//! Not every agent says what it costs. A session whose cost nobody knows is counted apart, so that a sum is never
//! taken for more than it is.

use std::collections::BTreeMap;

use crate::cost::Cost;

/// What usage is added up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The day a session started.
    Day,
    /// The repository it worked in.
    Repo,
    /// The agent that did the work.
    Agent,
    /// The model that answered.
    Model,
    /// The issue it worked on.
    Issue,
}

/// What one session used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// The day it started, as `2026-01-12`.
    pub day: String,
    /// The repository it worked in.
    pub repo: String,
    /// The agent that did the work.
    pub agent: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The issue it worked on.
    pub issue: Option<String>,
    /// Where anybody counted them.
    pub tokens: Option<Tokens>,
    /// As far as anybody said.
    pub cost: Cost,
}

/// Tokens, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Those that went into the model, cached ones included.
    pub input: u64,
    /// Those that came out of it.
    pub output: u64,
}

/// What some sessions used together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sum {
    pub sessions: u64,
    /// Those whose cost nobody knows, or not all of it.
    pub unknown_sessions: u64,
    /// Those whose tokens nobody counted.
    pub uncounted_sessions: u64,
    /// Of those that are known; `None` where no session is.
    pub tokens: Option<Tokens>,
    /// Of those that are known, in USD; `None` where no session is.
    pub cost_usd: Option<f64>,
}

impl Sum {
    fn add(&mut self, spent: &Spent) {
        self.sessions += 1;
        if let Some(usd) = spent.cost.told() {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + usd);
        }
        if spent.cost.whole().is_none() {
            self.unknown_sessions += 1;
        }
        match spent.tokens {
            Some(more) => {
                let so_far = self.tokens.unwrap_or_default();
                self.tokens = Some(Tokens {
                    input: so_far.input.saturating_add(more.input),
                    output: so_far.output.saturating_add(more.output),
                });
            }
            None => self.uncounted_sessions += 1,
        }
    }
}

/// What sessions used, in rows and altogether.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// By what they have in common, which is `None` where that is not known or there is none. Days are
    /// newest first, everything else most expensive first.
    pub rows: Vec<(Option<String>, Sum)>,
    /// All of them together.
    pub total: Sum,
}

/// Adds up what sessions used.
pub fn add_up(spent: &[Spent], by: By) -> Usage {
    let mut sums: BTreeMap<Option<String>, Sum> = BTreeMap::new();
    let mut total = Sum::default();
    for each in spent {
        total.add(each);
        sums.entry(key(each, by)).or_default().add(each);
    }
    let mut rows: Vec<(Option<String>, Sum)> = sums.into_iter().collect();
    if by == By::Day {
        rows.reverse();
    } else {
        let cost = |sum: &Sum| sum.cost_usd.unwrap_or(-1.0);
        // Stable: what costs the same stays in the order of its name, and what has no name comes last.
        rows.sort_by(|(a, one), (b, other)| {
            a.is_none().cmp(&b.is_none()).then(cost(other).total_cmp(&cost(one)))
        });
    }
    Usage { rows, total }
}

fn key(spent: &Spent, by: By) -> Option<String> {
    match by {
        By::Day => Some(spent.day.clone()),
        By::Repo => Some(spent.repo.clone()),
        By::Agent => spent.agent.clone(),
        By::Model => spent.model.clone(),
        By::Issue => spent.issue.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(day: &str, model: Option<&str>, cost_usd: Option<f64>) -> Spent {
        let tokens = cost_usd.map(|_| Tokens { input: 100, output: 10 });
        let model = model.map(str::to_owned);
        Spent { day: day.to_owned(), model, cost: cost_usd.into(), tokens, ..Spent::default() }
    }

    #[test]
    fn what_nobody_knows_is_counted_and_not_added() {
        let all = [
            spent("2026-01-12", Some("opus"), Some(1.5)),
            spent("2026-01-12", Some("opus"), None),
            spent("2026-01-13", None, None),
        ];
        let usage = add_up(&all, By::Day);
        assert_eq!(usage.total.cost_usd, Some(1.5));
        assert_eq!((usage.total.sessions, usage.total.unknown_sessions), (3, 2));
        assert_eq!(usage.total.tokens, Some(Tokens { input: 100, output: 10 }));
        let (newest, sum) = &usage.rows[0];
        assert_eq!(newest.as_deref(), Some("2026-01-13"));
        assert_eq!((sum.cost_usd, sum.tokens, sum.uncounted_sessions), (None, None, 1));
    }

    #[test]
    fn the_most_expensive_comes_first_and_what_has_no_name_last() {
        let all = [
            spent("d", None, Some(9.0)),
            spent("d", Some("haiku"), Some(0.1)),
            spent("d", Some("opus"), Some(3.0)),
            spent("d", Some("unpriced"), None),
        ];
        let rows = add_up(&all, By::Model).rows;
        let names: Vec<_> = rows.iter().map(|(name, _)| name.as_deref()).collect();
        assert_eq!(names, [Some("opus"), Some("haiku"), Some("unpriced"), None]);
    }

    #[test]
    fn the_rows_add_up_to_the_total() {
        let all = [spent("a", Some("x"), Some(1.0)), spent("b", Some("y"), None)];
        for by in [By::Day, By::Repo, By::Agent, By::Model, By::Issue] {
            let usage = add_up(&all, by);
            assert_eq!(usage.rows.iter().map(|(_, sum)| sum.sessions).sum::<u64>(), 2, "{by:?}");
            let unknown = usage.rows.iter().map(|(_, sum)| sum.unknown_sessions).sum::<u64>();
            assert_eq!(unknown, usage.total.unknown_sessions);
        }
    }
}
