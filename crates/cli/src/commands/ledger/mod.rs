mod gc;
mod heads;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use heirloom_api::{
    LedgerBackup, LedgerExported, LedgerImported, LedgerRebuilt, LedgerRehosted, LedgerReport,
    LedgerStats,
};
use heirloom_core::words::size;
use heirloom_engine::{exchange, reach};
use heirloom_ledger::{Gap, Imported, Report, Stats};
use heirloom_repo::{FileError, file};

use super::{App, Done, output};
use crate::failure::{Code, FAILED, Failure};
use crate::progress::Bar;
use crate::ui::{BAD, DIM, GOOD, counted, grouped};

/// Verify, export, import and back up the ledger
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Check that no record was changed, lost or moved, and that derived data is right
    Verify {
        /// Also compare with an export, or with the output of `ledger heads`
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
    },
    /// Print the end of every chain, so that you can keep it elsewhere
    ///
    /// Each hash covers all records before it. `heirloom ledger verify --against FILE` detects whether the
    /// ledger was truncated or rewritten since.
    Heads,
    /// Rebuild all derived data from the records
    Rebuild,
    /// Show how much is in the ledger
    Stats,
    /// Export every record as a line of JSON
    Export {
        /// The file to write [default: stdout]
        #[arg(value_name = "FILE")]
        to: Option<PathBuf>,
        /// Overwrite an existing file
        #[arg(long, requires = "to")]
        force: bool,
    },
    /// Import an export or a backup
    ///
    /// Importing twice changes nothing. Records of another host are merged, and records lost to damage are
    /// restored. If the import is a copy of this ledger that was written to as well, what differs becomes a
    /// separate host.
    Import {
        /// The file to read; - for stdin
        #[arg(value_name = "FILE", default_value = "-")]
        from: PathBuf,
    },
    /// Write a verified copy of the ledger
    ///
    /// Agents can keep writing meanwhile. `heirloom ledger import` reads the copy like an export.
    Backup {
        /// The file to write
        #[arg(value_name = "FILE")]
        to: PathBuf,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
    /// Give a copied ledger its own identity
    ///
    /// Run it after copying heirloom's home, so that the two copies can be told apart. Nothing is removed.
    Rehost,
    Gc(gc::Args),
}

pub(super) fn run(app: &App, args: Args) -> Done {
    match args.what {
        What::Verify { against } => verify(app, against.as_deref()),
        What::Heads => heads::run(app),
        What::Rebuild => rebuild(app),
        What::Stats => stats(app),
        What::Export { to, force } => export(app, to.as_deref(), force),
        What::Import { from } => import(app, &from),
        What::Backup { to, force } => backup(app, &to, force),
        What::Rehost => rehost(app),
        What::Gc(args) => gc::run(app, &args),
    }
}

fn verify(app: &App, against: Option<&Path>) -> Done {
    let known = against.map(heads::read).transpose()?;
    let ledger = app.here.ledger_as_it_is()?;
    let mut report = {
        let mut bar = Bar::new(&app.ui);
        ledger.verify_showing(&mut |doing, done, all| bar.show(doing, done, all))?
    };
    if let Some(known) = known {
        ledger.compare(&known, &mut report)?;
    }
    let answer = LedgerReport::from(&report);
    app.ui.answer(&answer, || if report.ok { all_well(&report) } else { what_is_wrong(&report) });
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn all_well(report: &Report) -> String {
    let (records, hosts) = (counted(report.records, "record"), counted(report.hosts, "host"));
    let mut text = format!(
        "{GOOD}ok{GOOD:#}  {records} from {hosts}, chain unbroken, projections equal a rebuild\n"
    );
    for Gap { host, from, to } in &report.gaps {
        let _ = writeln!(text, "  {DIM}records {from} to {to} of host {host} are not here{DIM:#}");
    }
    if report.misdated > 0 {
        let records = counted(report.misdated, "record");
        let _ = writeln!(
            text,
            "  {DIM}{records} with an impossible time: shown under the time of the previous one{DIM:#}"
        );
    }
    text
}

fn what_is_wrong(report: &Report) -> String {
    let problems = counted(report.problems.len() as u64, "problem");
    let mut text =
        format!("{BAD}not ok{BAD:#}  {problems} in {}\n", counted(report.records, "record"));
    for problem in &report.problems {
        let _ = writeln!(text, "  {problem}");
        if let Some(id) = &problem.id {
            let _ = writeln!(text, "  {DIM}{id}{DIM:#}");
        }
    }
    text
}

fn rebuild(app: &App) -> Done {
    let records = {
        let mut bar = Bar::new(&app.ui);
        app.here
            .ledger_as_it_is()?
            .rebuild_showing(&mut |doing, done, all| bar.show(doing, done, all))?
    };
    app.ui.answer(&LedgerRebuilt { records }, || {
        format!("{GOOD}✔{GOOD:#} rebuilt every projection from {}", counted(records, "record"))
    });
    Ok(ExitCode::SUCCESS)
}

fn stats(app: &App) -> Done {
    let mut stats = app.here.ledger_as_it_is()?.stats()?;
    // Where there is none, another one is looked at in its stead.
    stats.path = app.here.home.join("ledger.db").display().to_string();
    app.ui.answer(&LedgerStats::from(&stats), || describe(&stats));
    Ok(ExitCode::SUCCESS)
}

fn describe(stats: &Stats) -> String {
    let mut text = format!(
        "{}\n{} in {}, {}, {}, format {}\n",
        stats.path,
        counted(stats.records, "record"),
        counted(stats.sessions, "session"),
        counted(stats.notes, "note"),
        size(stats.bytes),
        stats.version,
    );
    for (kind, count) in &stats.kinds {
        let _ = writeln!(text, "  {kind:24}{:>10}", grouped(*count));
    }
    for (host, count) in &stats.hosts {
        let own = if *host == stats.host { "  this one" } else { "" };
        let _ = writeln!(text, "  host {host:19}{:>10}{DIM}{own}{DIM:#}", grouped(*count));
    }
    text
}

fn export(app: &App, to: Option<&Path>, force: bool) -> Done {
    let ledger = app.here.ledger_as_it_is()?;
    reach::whole_ledger(&app.here, &ledger)?;
    let Some(path) = to.filter(|path| *path != Path::new("-")) else {
        let mut out = crate::printer::records();
        ledger.export(&mut out)?;
        out.flush().map_err(FileError::new("write", Path::new("stdout")))?;
        return Ok(ExitCode::SUCCESS);
    };
    refuse_own_files(ledger.path(), path)?;
    let destination = output::destination(app, path, force)?.private();
    let records = destination.write(|mut out| Ok::<_, Failure>(ledger.export(&mut out)?))?;
    let told =
        || format!("{GOOD}✔{GOOD:#} wrote {} to {}", counted(records, "record"), path.display());
    if destination.is_stdout() {
        // What is there is the export, and nothing else.
        app.ui.say(&told());
    } else {
        app.ui.answer(&LedgerExported { records, file: path.display().to_string() }, told);
    }
    Ok(ExitCode::SUCCESS)
}

/// The ledger must not be replaced by its own export.
fn refuse_own_files(ledger: &Path, target: &Path) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let home = ledger.parent().map(real);
    let target = real(target);
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_own = home.as_deref() == target.parent()
        && name.is_some_and(|name| {
            ["ledger.db", "views.db", "index.db"].iter().any(|own| name.starts_with(own))
        });
    if !is_own {
        return Ok(());
    }
    let message = format!("{} belongs to the ledger itself", target.display());
    Err(Failure::new(Code::Usage, message).hint("choose another file").usage())
}

fn backup(app: &App, to: &Path, force: bool) -> Done {
    let ledger = app.here.ledger_as_it_is()?;
    reach::whole_ledger(&app.here, &ledger)?;
    refuse_own_files(ledger.path(), to)?;
    let destination = output::destination(app, to, force)?.private();
    let cannot = FileError::new("write", to);
    // A database cannot be written into everything that a person may name; its bytes can.
    let part = tempfile::tempdir_in(&app.here.home).map_err(cannot)?;
    let copy = part.path().join("ledger.db");
    let records = {
        let mut bar = Bar::new(&app.ui);
        ledger.back_up(&copy, &mut |doing, done, all| bar.show(doing, done, all))?
    };
    destination.write(|out| {
        let mut copied = file::open_any(&copy)?;
        io::copy(&mut copied, out).map_err(FileError::new("write", to))
    })?;
    let told =
        || format!("{GOOD}✔{GOOD:#} copied {} to {}", counted(records, "record"), to.display());
    if destination.is_stdout() {
        app.ui.say(&told());
    } else {
        app.ui.answer(&LedgerBackup { records, file: to.display().to_string() }, told);
    }
    Ok(ExitCode::SUCCESS)
}

fn rehost(app: &App) -> Done {
    let (from, to) = app.here.ledger_as_it_is()?.rehost(app.here.clock.now())?;
    let answer = LedgerRehosted { host: to.to_string(), succeeds: from.to_string() };
    app.ui.answer(&answer, || {
        format!("{GOOD}✔{GOOD:#} this ledger was host {from} and is now host {to}")
    });
    Ok(ExitCode::SUCCESS)
}

/// Whether a file is a database and not an export. Nothing of it is consumed.
fn is_copy(file: &mut BufReader<File>) -> bool {
    file.fill_buf().is_ok_and(|start| start.starts_with(b"SQLite format 3\0"))
}

fn import(app: &App, from: &Path) -> Done {
    let mut ledger = app.here.ledger_as_it_is()?;
    let imported = if from == Path::new("-") {
        exchange::import(&app.here, &mut ledger, io::stdin().lock())?
    } else {
        let mut file = BufReader::new(file::open_any(from).map_err(|error| {
            Failure::new(Code::File, format!("cannot read {}: {}", from.display(), error.source))
        })?);
        if is_copy(&mut file) {
            let mut bar = Bar::new(&app.ui);
            exchange::import_copy(&app.here, &mut ledger, from, &mut |doing, done, all| {
                bar.show(doing, done, all);
            })?
        } else {
            exchange::import(&app.here, &mut ledger, file)?
        }
    };
    app.ui.answer(&LedgerImported::from(imported), || {
        let Imported { added, known, branched, erased } = imported;
        let known =
            if known > 0 { format!(", {} known already", grouped(known)) } else { String::new() };
        let branched = match branched {
            0 => String::new(),
            some => format!(", {} of them as a host of their own", grouped(some)),
        };
        let erased =
            if erased > 0 { format!(", {} erased", grouped(erased)) } else { String::new() };
        format!("{GOOD}✔{GOOD:#} {} added{branched}{known}{erased}", counted(added, "record"))
    });
    Ok(ExitCode::SUCCESS)
}
