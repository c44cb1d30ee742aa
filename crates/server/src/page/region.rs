//! The regions of a page: what changes while it lies open.
//!
//! A page that is opened has all of them. One that lies open asks for those that an event concerns and says which version of
//! each it has; it is sent those that look different now, and what no wanted region needs is not looked up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use heirloom_api::Failure;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Needs;

/// `ID=VERSION` for each region that is wanted, with spaces between them.
const HEADER: &str = "x-heirloom-regions";

/// Which regions are wanted, and those that changed.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// The versions that the page has, where it asks for regions alone.
    have: Option<BTreeMap<String, String>>,
    changed: RefCell<Vec<Markup>>,
}

impl<S: Send + Sync> FromRequestParts<S> for Regions {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let wanted = parts.headers.get(HEADER).and_then(|value| value.to_str().ok());
        let have = wanted.map(|wanted| {
            let each = wanted.split(' ').filter_map(|each| each.split_once('='));
            each.map(|(id, version)| (id.to_owned(), version.to_owned())).collect()
        });
        Ok(Self { have, ..Self::default() })
    }
}

/// A region: how it is called, and which events concern it, by their type.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    pub(super) id: &'static str,
    pub(super) on: &'static str,
    /// Whether it is a list, whose rows neither come nor go while somebody is in it.
    pub(super) is_list: bool,
    /// Whether events of other sessions than the page's concern it too.
    pub(super) is_wide: bool,
}

impl Region {
    pub(super) const fn new(id: &'static str, on: &'static str) -> Self {
        Self { id, on, is_list: false, is_wide: false }
    }

    pub(super) const fn list(id: &'static str, on: &'static str) -> Self {
        Self { id, on, is_list: true, is_wide: false }
    }

    pub(super) const fn wide(id: &'static str, on: &'static str) -> Self {
        Self { id, on, is_list: false, is_wide: true }
    }
}

impl Regions {
    /// Whether one of these regions is wanted.
    pub(super) fn want(&self, ids: &[&str]) -> bool {
        self.have.as_ref().is_none_or(|have| ids.iter().any(|id| have.contains_key(*id)))
    }

    /// A region with what is in it; nothing where the page has it as it is, or did not ask for it.
    pub(super) fn put(
        &self,
        region: Region,
        make: impl FnOnce() -> Result<Markup, Failure>,
    ) -> Result<Markup, Failure> {
        if !self.want(&[region.id]) {
            return Ok(html! {});
        }
        let inner = make()?;
        let version = version(&inner.0);
        let known = self.have.as_ref().and_then(|have| have.get(region.id));
        if known.is_some_and(|known| *known == version) {
            return Ok(html! {});
        }
        let whole = html! {
            div id=(region.id) data-live=(region.on) data-list[region.is_list] data-wide[region.is_wide] data-version=(version) { (inner) }
        };
        if self.have.is_some() {
            self.changed.borrow_mut().push(PreEscaped(whole.0.clone()));
        }
        Ok(whole)
    }

    /// The regions that changed, for a page that asked for them; `None` where the whole page is wanted.
    pub(super) fn alone(&self, title: &str, needs: &Needs) -> Option<Markup> {
        self.have.as_ref()?;
        Some(html! {
            (DOCTYPE)
            html lang="en" {
                head { @if !title.is_empty() { title { (title) } } }
                body data-needs=(needs.count()) data-approvals=(needs.approvals.len()) data-failed=(needs.failed.len()) data-version=(env!("CARGO_PKG_VERSION")) {
                    @for region in self.changed.borrow().iter() { (region) }
                }
            }
        })
    }
}

/// What tells one look of a region from another. How long ago something was goes on by itself and is none.
fn version(html: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    // Whatever an agent wrote can say anything but this: in a text the `<` is escaped.
    let mut parts = html.split("<time ");
    hasher.update(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let (attributes, rest) = part.split_once('>').unwrap_or((part, ""));
        hasher.update(attributes.as_bytes());
        // What is between quotes is a value, which may be anybody's words.
        let mut names = attributes.split('"').step_by(2).flat_map(|names| names.split(' '));
        let is_clock = names.any(|name| name == "data-since");
        let after = rest.split_once("</time>").filter(|_| is_clock);
        hasher.update(after.map_or(rest, |(_words, after)| after).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(have: &[(&str, &str)]) -> Regions {
        let have = have.iter().map(|(id, version)| ((*id).to_owned(), (*version).to_owned()));
        Regions { have: Some(have.collect()), ..Regions::default() }
    }

    fn with(words: &str) -> Markup {
        html! { p { "one" } time datetime="2026-01-12T15:30:00Z" data-since title="then" { (words) } }
    }

    #[test]
    fn what_an_agent_wrote_hides_nothing() {
        let said = |after: &str| {
            let tool = "echo ' data-since >' '<time data-since >'";
            version(&html! { p { (tool) } p title=(tool) { (after) } }.0)
        };
        assert_ne!(said("one"), said("two"));
        let then = |words: &str| {
            version(&html! { time datetime="2026-01-12" title="a data-since b" { (words) } }.0)
        };
        let beside = |text: &str| version(&html! { (with("1 s")) p { (text) } }.0);
        assert_ne!(beside("one"), beside("two"), "what follows a clock counts");
        assert_ne!(then("one"), then("one, and more"), "a time that stands still is no clock");
    }

    #[test]
    fn a_page_that_lies_open_is_sent_what_it_asked_for_and_does_not_have() {
        const ONE: Region = Region::new("one", "note");
        let whole = Regions::default();
        assert!(whole.put(ONE, || Ok(with("1 s"))).unwrap().0.contains("id=\"one\""));
        assert!(
            whole.alone("t", &Needs::default()).is_none(),
            "somebody who opens a page gets all of it"
        );

        let needs = Needs::default();
        let stale = asking(&[("one", "")]);
        stale.put(ONE, || Ok(with("1 s"))).unwrap();
        stale.put(Region::new("two", ""), || panic!("nobody asked for it")).unwrap();
        let sent = stale.alone("t", &needs).unwrap().0;
        assert!(sent.contains("id=\"one\"") && sent.contains("data-needs=\"0\""), "{sent}");

        let current = version(&with("1 s").0);
        let same = asking(&[("one", &current)]);
        same.put(ONE, || Ok(with("2 s"))).unwrap();
        assert!(!same.alone("t", &needs).unwrap().0.contains("id=\"one\""), "only time went by");
        let other = asking(&[("one", &current)]);
        other.put(ONE, || Ok(html! { p { "another" } })).unwrap();
        assert!(other.alone("t", &needs).unwrap().0.contains("another"));
    }
}
