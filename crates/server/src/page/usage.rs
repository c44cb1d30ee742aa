//! What agents cost, by day, repository, agent, model or issue. What nobody knows is said, never shown as 0.

use std::collections::HashMap;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use heirloom_core::usage::Sum;
use heirloom_engine::usage as engine;
use maud::{Markup, html};

use super::region::{Region, Regions};
use super::{Sheet, View, counted, line, page, sheet};
use crate::gate::Caller;
use crate::house::House;
use crate::routes::Asked;
use crate::routes::usage::{self, Filter, Group};

const USED: Region = Region::list("used", "session");

pub(super) async fn shown(
    State(house): State<House>,
    Extension(caller): Extension<Caller>,
    Asked(filter): Asked<Filter>,
    regions: Regions,
) -> Response {
    let made = house.call(move |house| {
        let cx = usage::context(house, &filter)?;
        let view = View::new(house, &caller, &cx.ledger)?.with(regions);
        let used = usage::added_up(&cx, &filter)?;
        let names = match filter.by {
            Group::Repo => engine::names(&cx.ledger)?,
            _ => HashMap::new(),
        };
        let title = heading(&used.total);
        let content = html! {
            (view.heading(&title)?)
            nav.line aria-label="Group by" {
                @for group in Group::ALL {
                    a href=(format!("/usage?by={}&all_repos={}", group.word(), filter.all_repos))
                        aria-current=[(group == filter.by).then_some("page")] { "By " (named(group)) }
                }
            }
            (view.regions.put(USED, || Ok(html! {
                @if used.rows.is_empty() { p.dim { "No agent has worked here yet." } }
                @else { table {
                    thead { tr {
                        th scope="col" { (capital(named(filter.by))) } th scope="col" class="num" { "Sessions" }
                        th scope="col" class="num c-branch" { "Tokens in" } th scope="col" class="num c-branch" { "Tokens out" }
                        th scope="col" class="num" { "Cost" }
                    } }
                    tbody {
                        @for (key, sum) in &used.rows {
                            @let none = if filter.by == Group::Issue { "no issue" } else { "unknown" };
                            @let key = key.as_ref().map_or(none, |key| names.get(key).unwrap_or(key));
                            (row(&line(key, 60), sum))
                        }
                        @if used.rows.len() > 1 { (row("Total", &used.total)) }
                    }
                } }
            }))?)
            @if used.total.unknown_sessions > 0 {
                p.dim { "A cost is what the agent reported. Sessions whose agent reports none are left out of the sums." }
            }
        };
        let command = format!("heirloom usage --by {}", filter.by.word());
        let sheeted =
            Sheet { title: &title, page: "usage", nav: "/", command: &command, ..Sheet::default() };
        Ok(sheet(&view, &sheeted, &content))
    });
    page(made.await)
}

fn heading(total: &Sum) -> String {
    let sessions = counted(usize::try_from(total.sessions).unwrap_or(usize::MAX), "session");
    match total.cost_usd {
        _ if total.sessions == 0 => "No agent has worked here yet".to_owned(),
        Some(cost) if total.unknown_sessions > 0 => format!("{sessions}, at least ${cost:.2}"),
        Some(cost) => format!("{sessions}, ${cost:.2}"),
        None => format!("{sessions}, cost unknown"),
    }
}

fn row(key: &str, sum: &Sum) -> Markup {
    let tokens = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
    html! { tr.row {
        td { (key) }
        td.num { (sum.sessions) }
        td.num.soft.c-branch { (tokens(sum.tokens.map(|tokens| tokens.input))) }
        td.num.soft.c-branch { (tokens(sum.tokens.map(|tokens| tokens.output))) }
        td.num { @match sum.cost_usd {
            Some(cost) => { (format!("${cost:.2}")) @if sum.unknown_sessions > 0 { span.dim { " + " (sum.unknown_sessions) " unknown" } } }
            None => "unknown",
        } }
    } }
}

const fn named(group: Group) -> &'static str {
    match group {
        Group::Repo => "repository",
        other => other.word(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
