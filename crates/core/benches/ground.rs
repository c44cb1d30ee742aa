//! How long it takes to verify 200,000 claims over 1,000 files: reading a trajectory of that size,
//! and checking it. The budget is 0.6 s together.

use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;

use criterion::{Criterion, criterion_group, criterion_main};
use heirloom_core::ground::ghost::Sighting;
use heirloom_core::ground::{Opened, Sources, Text, check, current, kin, trajectory};

const FILES: usize = 1000;
const LINES: usize = 300;
const CLAIMS: usize = 200_000;

struct Files(HashMap<String, String>);

impl Sources for Files {
    fn open(&mut self, path: &str) -> Rc<Opened> {
        let text = self.0.get(path);
        Rc::new(text.map_or(Opened::Missing, |text| Opened::Text(Text::new(text))))
    }

    fn became(&mut self, _: &str, _: Option<&str>) -> Vec<String> {
        Vec::new()
    }

    fn survey(&mut self, alike: &str, see: &mut dyn FnMut(&str, &Text)) -> bool {
        for (path, text) in self.0.iter().filter(|(path, _)| kin(path) == alike) {
            see(path, &Text::new(text));
        }
        true
    }

    fn look_for(&mut self, _: &[String]) -> Sighting {
        Sighting::default()
    }
}

fn line(file: usize, line: usize) -> String {
    format!("    let value_{line} = compute_{file}(input, {line}); // some more words")
}

fn files() -> Files {
    let text = |file: usize| (0..LINES).map(|number| line(file, number) + "\n").collect();
    Files((0..FILES).map(|file| (format!("src/module_{file}.rs"), text(file))).collect())
}

/// One claim in 20 has moved within its file, one in 20 into another one, and one in 20 is made up,
/// each in its own words.
fn trajectory_file() -> String {
    let mut text = String::new();
    for claim in 0..CLAIMS {
        let (file, at) = (claim % FILES, claim * 7 % LINES);
        let cited = if claim % 20 == 0 { (at + 100) % LINES } else { at } + 1;
        let quote = match claim % 20 {
            1 => format!("let invented_{claim} = nothing();"),
            2 => line((file + 1) % FILES, at),
            _ => line(file, at),
        };
        let _ = writeln!(
            text,
            r#"{{"ts":"2026-01-12T15:30:00Z","agent":"implementing","phase":"cite","claim":"claim number {claim}","grounding":"citation","evidence":{{"quote":"{quote}","path":"src/module_{file}.rs","line":{cited}}}}}"#
        );
    }
    text
}

fn ground(criterion: &mut Criterion) {
    let (mut files, text) = (files(), trajectory_file());
    let mut group = criterion.benchmark_group("ground");
    group.sample_size(10);
    group.bench_function("read a trajectory of 200,000 claims", |bencher| {
        bencher.iter(|| black_box(trajectory::read(&text, None)));
    });
    group.bench_function("read it and verify it over 1,000 files", |bencher| {
        bencher.iter(|| {
            let claims = current(trajectory::read(&text, None).claims);
            black_box(check(claims, &mut files))
        });
    });
    group.finish();
}

criterion_group!(benches, ground);
criterion_main!(benches);
