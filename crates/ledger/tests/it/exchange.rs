use heirloom_ledger::{Imported, Ledger, NoteFilter, Options, Scope};

use crate::fixture::{Home, REPO, at, created, fill, note, session_id};

fn export(ledger: &Ledger) -> String {
    let mut out = Vec::new();
    ledger.export(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_export_is_one_json_object_a_line() {
    let home = Home::new();
    fill(&mut home.open(), 2);
    let export = export(&home.open());
    assert_eq!(export.lines().count(), 3);
    for (line, seq) in export.lines().zip(1..) {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["seq"], seq);
        assert!(value["body"].is_object());
        assert!(value["at"].as_str().unwrap().ends_with('Z'));
    }
}

#[test]
fn importing_twice_changes_nothing() {
    let (here, there) = (Home::new(), Home::new());
    fill(&mut here.open(), 4);
    let text = export(&here.open());
    let mut ledger = there.open();
    assert_eq!(
        ledger.import(text.as_bytes()).unwrap(),
        Imported { added: 5, known: 0, branched: 0, erased: 0 }
    );
    assert_eq!(
        ledger.import(text.as_bytes()).unwrap(),
        Imported { added: 0, known: 5, branched: 0, erased: 0 }
    );
    assert_eq!(export(&ledger), text);
    let report = ledger.verify().unwrap();
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(ledger.notes(&NoteFilter::default()).unwrap().len(), 4);
}

#[test]
fn importing_into_the_ledger_it_came_from_changes_nothing() {
    let home = Home::new();
    fill(&mut home.open(), 4);
    let mut ledger = home.open();
    let text = export(&ledger);
    assert_eq!(
        ledger.import(text.as_bytes()).unwrap(),
        Imported { added: 0, known: 5, branched: 0, erased: 0 }
    );
}

#[test]
fn the_ledgers_of_two_hosts_merge_both_ways_to_the_same_sessions() {
    let (monday, tuesday) = (Home::new(), Home::new());
    fill(&mut monday.open(), 3);
    let mut ledger = tuesday.open();
    ledger.append(at(5), Scope::session(session_id(2), REPO), &created("auth-v2")).unwrap();
    ledger.append(at(6), Scope::session(session_id(2), REPO), &note(500, "from tuesday")).unwrap();
    let (a, b) = (export(&monday.open()), export(&ledger));
    monday.open().import(b.as_bytes()).unwrap();
    ledger.import(a.as_bytes()).unwrap();
    for ledger in [monday.open(), ledger] {
        let report = ledger.verify().unwrap();
        assert!(report.ok, "{:?}", report.problems);
        assert_eq!((report.records, report.hosts), (6, 2));
        assert!(ledger.session(session_id(1)).unwrap().is_some());
        assert!(ledger.session(session_id(2)).unwrap().is_some());
    }
    // Each goes on with its own chain afterwards.
    let mut monday = monday.open();
    monday.append(at(9), Scope::session(session_id(1), REPO), &note(501, "later")).unwrap();
    assert!(monday.verify().unwrap().ok);
}

#[test]
fn a_bad_line_is_named_and_nothing_of_the_export_is_taken() {
    let (here, there) = (Home::new(), Home::new());
    fill(&mut here.open(), 4);
    let good = export(&here.open());
    let lines: Vec<&str> = good.lines().collect();
    let edited = lines[2].replace("learning 1", "learning X");
    let cases: [(Vec<&str>, &str); 5] = [
        (vec![lines[0], "{\"v\":1"], "line 2 is not a record: "),
        (vec![lines[0], "[]"], "line 2 is not a record: "),
        (vec![lines[0], lines[1], &edited], "line 3: record 3 of host "),
        (vec![lines[0], lines[2]], "line 2: record 3 of host "),
        (vec![lines[0], &lines[1][..80]], "line 2 is not a record: "),
    ];
    for (lines, message) in cases {
        let mut ledger = there.open();
        let error = ledger.import(lines.join("\n").as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(ledger.verify().unwrap().records, 0);
    }
}

/// An export during the reading of which somebody else writes to the ledger that takes it in.
struct Slow<'a> {
    rest: &'a [u8],
    home: &'a Home,
    written: u128,
}

impl std::io::Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut hook = Ledger::open(self.home.path(), Options::HOOK).unwrap();
        self.written += 1;
        let scope = Scope::session(session_id(9), REPO);
        hook.append(at(7), scope, &note(500 + self.written, "meanwhile")).unwrap();
        self.rest.read(buffer)
    }
}

#[test]
fn nobody_waits_for_an_import_that_still_reads() {
    let (here, there) = (Home::new(), Home::new());
    fill(&mut there.open(), 3);
    let export = export(&there.open());
    let mut ledger = here.open();
    let slow = Slow { rest: export.as_bytes(), home: &here, written: 0 };
    let mut input = std::io::BufReader::with_capacity(400, slow);
    ledger.import(&mut input).unwrap();
    let written = input.get_ref().written;
    assert!(written > 2, "it was read at once");
    let meanwhile = ledger.notes(&NoteFilter::default()).unwrap();
    let meanwhile = meanwhile.iter().filter(|note| note.text == "meanwhile").count();
    assert_eq!(meanwhile as u128, written);
    assert!(ledger.verify().unwrap().ok);
}
