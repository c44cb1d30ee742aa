//! A PostgreSQL of a test's own: in a temporary directory, on a socket in it, gone with the test.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long it may take to start, on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub struct Postgres {
    dir: TempDir,
    bin: PathBuf,
    /// Whom it runs as, where that is not whoever runs the test: it refuses root.
    user: Option<(u32, u32)>,
    server: Option<Child>,
}

impl Postgres {
    /// A running server with a database `hub` that belongs to `owner`, who is no superuser.
    pub fn start() -> Self {
        // Short: the path of a socket has to fit into 107 bytes.
        let dir = TempDir::with_prefix_in("hl-pg-", "/tmp").expect("a temporary directory");
        let mut postgres = Self { bin: binaries(), user: user(dir.path()), dir, server: None };
        if let Some((uid, gid)) = postgres.user {
            chown(postgres.dir.path(), Some(uid), Some(gid)).expect("root gives away");
        }
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(postgres.dir.path(), open).expect("a directory of our own");
        let made = postgres
            .command("initdb")
            .args([
                "--no-sync",
                "-U",
                "root",
                "--auth-local=trust",
                "--encoding=UTF8",
                "--locale=C",
                "-D",
            ])
            .arg(postgres.data())
            .output()
            .expect("initdb");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let rules = "local all root trust\nlocal all all scram-sha-256\n";
        fs::write(postgres.data().join("pg_hba.conf"), rules).expect("its rules");
        postgres.run();
        postgres.sql("postgres", "CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'owner'");
        postgres.sql("postgres", "CREATE DATABASE hub OWNER owner");
        postgres
    }

    /// Starts the server, and waits until it answers.
    pub fn run(&mut self) {
        let server = self
            .command("postgres")
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.dir.path())
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=100",
                "-c",
                "shared_buffers=32MB",
            ])
            .args(["-c", "full_page_writes=off", "-c", "fsync=off"])
            .stdout(Stdio::null())
            .stderr(fs::File::create(self.dir.path().join("log")).expect("a log"))
            .spawn()
            .expect("postgres");
        self.server = Some(server);
        let began = Instant::now();
        while !self.psql("postgres", "SELECT 1").output().is_ok_and(|ran| ran.status.success()) {
            let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
            assert!(began.elapsed() < PATIENCE, "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills the server and all its processes at once, as a power cut would.
    pub fn kill(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let children = children(server.id());
        let _ = server.kill();
        for child in children.into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
        }
        let _ = server.wait();
    }

    /// The address of the hub's database for `login`.
    pub fn url(&self, login: &str, password: &str) -> String {
        format!("postgresql://{login}:{password}@/hub?host={}", self.dir.path().display())
    }

    /// The address for the owner of the database.
    pub fn owner(&self) -> String {
        self.url("owner", "owner")
    }

    /// Runs SQL as the superuser. Returns what it printed, unaligned.
    #[track_caller]
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let ran = self.psql(database, sql).output().expect("psql");
        assert!(ran.status.success(), "{sql}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).trim_end().to_owned()
    }

    /// Runs SQL as whoever the address is of. Returns what it printed, or what the server said.
    pub fn sql_at(&self, url: &str, sql: &str) -> Result<String, String> {
        let mut command = Command::new(self.bin.join("psql"));
        let ran = command.args([url, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql]).output();
        let ran = ran.expect("psql");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if ran.status.success() { Ok(text(&ran.stdout)) } else { Err(text(&ran.stderr)) }
    }

    /// Everything that is in the database, as text.
    pub fn dump(&self) -> String {
        let mut command = Command::new(self.bin.join("pg_dump"));
        command.arg("-h").arg(self.dir.path()).args(["-U", "root", "hub"]);
        let ran = command.output().expect("pg_dump");
        assert!(ran.status.success(), "pg_dump: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn psql(&self, database: &str, sql: &str) -> Command {
        let mut command = Command::new(self.bin.join("psql"));
        command.arg("-h").arg(self.dir.path()).args(["-U", "root", "-d", database, "-XqAt"]);
        command.args(["-v", "ON_ERROR_STOP=1", "-c", sql]);
        command
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let mut command = match self.user {
            None => Command::new(program),
            Some((uid, gid)) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", &uid.to_string(), "--regid", &gid.to_string()]);
                command.arg("--clear-groups").arg(program);
                command
            }
        };
        command.current_dir(self.dir.path()).env("LC_ALL", "C");
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The processes that a process started.
fn children(of: u32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_child = |stat: &str| {
        // Behind the name, which may have spaces: the state, then the parent.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        parent == Some(of.to_string().as_str())
    };
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| is_child(&stat))
        })
        .collect()
}

/// The newest that is installed.
fn binaries() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    let elsewhere = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).find(|bin| bin.join("initdb").exists())
    };
    found.pop().or_else(elsewhere).expect("PostgreSQL is installed: apt-get install postgresql")
}

/// Root's servers run as `postgres`, or as `nobody` where there is none.
fn user(dir: &Path) -> Option<(u32, u32)> {
    let is_root = fs::metadata(dir).is_ok_and(|made| made.uid() == 0);
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let line = known.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2).map(str::parse::<u32>);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    is_root.then(|| find("postgres").or_else(|| find("nobody")).expect("a user that is not root"))
}
