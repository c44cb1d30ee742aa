//! Who gets in, and who does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::json;

use super::Daemon;
use super::client::Request;

#[test]
fn without_a_token_anybody_learns_only_that_the_daemon_is_there() {
    let daemon = Daemon::start(crate::env());
    let health = Request::get("/api/v1/health").send(daemon.url());
    assert_eq!((health.status, health.body.as_str()), (200, r#"{"status":"ok"}"#));
    for path in ["/api/v1/sessions", "/api/v1/nothing", "/api/v1/openapi.json", "/api/v1/events"] {
        let answer = Request::get(path).send(daemon.url());
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.code(), "request.unauthenticated");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"heirloom\""));
    }
    let page = Request::get("/").send(daemon.url());
    assert_eq!(page.status, 401);
    assert!(page.body.contains("heirloom serve --link"), "{page:?}");
    assert!(!page.body.contains(daemon.token()));
}

#[test]
fn a_hostile_page_gets_nowhere() {
    let daemon = Daemon::start(crate::env());
    let refused = |request: Request| {
        let answer = request.bearer(daemon.token()).send(daemon.url());
        assert_eq!((answer.status, answer.code().as_str()), (403, "request.refused"), "{answer:?}");
        assert!(answer.header("access-control-allow-origin").is_none());
    };
    // A name that somebody else's DNS leads here.
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil", ""]
    {
        refused(Request::get("/api/v1/sessions").host(host));
    }
    for origin in ["http://evil.example", "null", "https://localhost.evil", "file://"] {
        refused(Request::get("/api/v1/sessions").header("origin", origin));
        refused(Request::post("/api/v1/notes", &json!({})).header("origin", origin));
    }
    // A form post with the person's cookie, as a browser would send it from elsewhere.
    let cookie = daemon.sign_in();
    let post = Request::post("/api/v1/notes", &json!({"kind": "learning", "text": "x"}));
    let answer = post.header("cookie", &cookie).send(daemon.url());
    assert_eq!((answer.status, answer.code().as_str()), (403, "request.refused"));
    let preflight = Request::get("/api/v1/sessions").method("OPTIONS");
    let answer = preflight.header("origin", "http://evil.example").send(daemon.url());
    assert_eq!(answer.status, 403);
    // What a page can send without asking first: forms, and text that happens to be JSON.
    let text = r#"{"kind":"learning","text":"x"}"#;
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
    {
        let form = Request::form("/api/v1/notes", text).header("content-type", kind);
        let answer = form.header("cookie", &cookie).send(daemon.url());
        assert_eq!((answer.status, answer.code().as_str()), (403, "request.refused"), "{kind}");
    }
    for path in ["/sessions/x/continue", "/launch", "/approvals/x", "/issues", "/signout"] {
        let form = Request::form(path, "prompt=x&title=x&form=forged").header("cookie", &cookie);
        assert_eq!(form.send(daemon.url()).status, 403, "{path}");
        let form = Request::form(path, "prompt=x&title=x").header("cookie", &cookie);
        assert_eq!(form.send(daemon.url()).status, 403, "{path}");
    }
    // And asking first gets no leave.
    let ask =
        Request::get("/api/v1/notes").method("OPTIONS").header("origin", "http://evil.example");
    let answer = ask.header("access-control-request-method", "POST").send(daemon.url());
    assert_eq!(answer.status, 403);
    assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    assert_eq!(daemon.get("/api/v1/notes").json()["notes"], json!([]));
    assert_eq!(daemon.get("/api/v1/sessions").json()["sessions"], json!([]));
    // Through a tunnel the port is another one, and the name is still ours.
    let tunnel = Request::get("/api/v1/sessions").host("localhost:9999").bearer(daemon.token());
    assert_eq!(tunnel.send(daemon.url()).status, 200);
}

#[test]
fn a_link_is_good_once_and_what_it_gives_only_a_browser_can_use() {
    let daemon = Daemon::start(crate::env());
    let link = daemon.serving["link"].as_str().unwrap().to_owned();
    let path = &link[daemon.url().len()..];
    let first = Request::get(path).send(daemon.url());
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let again = Request::get(path).send(daemon.url());
    assert_eq!((again.status, again.code().as_str()), (401, "request.unauthenticated"));
    let cookie = cookie.split(';').next().unwrap();
    let read = |cookie: &str| {
        Request::get("/api/v1/sessions").header("cookie", cookie).send(daemon.url()).status
    };
    assert_eq!(read(cookie), 200);
    assert_eq!(read("heirloom=else"), 401);
    // A further one comes from a person's terminal, and not from an agent's.
    let env = &daemon.env;
    let fresh = env.run(&["serve", "--link", "--json"]).success().json();
    let fresh = fresh["link"].as_str().unwrap().to_owned();
    assert_eq!(Request::get(&fresh[daemon.url().len()..]).send(daemon.url()).status, 303);
    let mut agent = env.command(&["serve", "--link", "--json"]);
    let refused = agent.env("HEIRLOOM_TEST_LINE", "bash|claude").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("person.needed"));
}

#[test]
fn wrong_tokens_are_put_off_and_the_right_one_is_not() {
    let daemon = Daemon::start(crate::env());
    let with = |token: &str| Request::get("/api/v1/sessions").bearer(token).send(daemon.url());
    let statuses: Vec<u16> = (0..40).map(|at| with(&format!("wrong{at}")).status).collect();
    assert_eq!((statuses[0], statuses[39]), (401, 429), "{statuses:?}");
    assert_eq!(with(daemon.token()).status, 200);
}

#[test]
fn everything_a_browser_is_sent_is_fenced_in() {
    let daemon = Daemon::start(crate::env());
    let answer = daemon.get("/api/v1/sessions");
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
    assert!(answer.header("access-control-allow-origin").is_none());
}

#[test]
fn what_is_kept_is_the_owners_alone_and_goes_when_the_daemon_does() {
    let mut daemon = Daemon::start(crate::env());
    let home = daemon.env.home();
    let mode = |name: &str| fs::metadata(home.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("serve.json"), mode("serve.sock"), mode("serve")), (0o600, 0o600, 0o700));
    let kept: serde_json::Value =
        serde_json::from_slice(&fs::read(home.join("serve.json")).unwrap()).unwrap();
    assert_eq!(kept, daemon.serving);
    assert_eq!(kept["pid"], daemon.child.id());
    let socket = UnixStream::connect(home.join("serve.sock")).unwrap();
    let request = Request::get("/api/v1/sessions").bearer(daemon.token());
    assert_eq!(request.send_over(socket, "localhost").status, 200);
    let again = daemon.env.run(&["serve", "--json"]);
    assert_eq!(again.json()["error"]["code"], "serve.running", "{again}");
    daemon.stop();
    assert!(!home.join("serve.json").exists() && !home.join("serve.sock").exists());
    let none = daemon.env.run(&["serve", "--link", "--json"]);
    assert_eq!(none.json()["error"]["code"], "serve.not-running", "{none}");
}

#[test]
fn a_sign_in_a_token_and_a_port_outlive_the_daemon() {
    let mut daemon = Daemon::start(crate::env());
    let (cookie, token, url) =
        (daemon.sign_in(), daemon.token().to_owned(), daemon.url().to_owned());
    // Killed, not asked: what it left must not be in the way.
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    let mut command = daemon.env.command(&["serve", "--json"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let stdout = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
    let serving: serde_json::Value = serde_json::from_str(&line).unwrap();
    let again = Request::get("/api/v1/sessions").header("cookie", &cookie).send(&url);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((serving["token"].as_str(), serving["url"].as_str()), (Some(&*token), Some(&*url)));
    assert_eq!(again.status, 200);
}

#[test]
fn a_daemon_that_others_could_reach_is_started_with_tls_or_not_at_all() {
    let ran = crate::env().run(&["serve", "--listen", "0.0.0.0:0", "--json"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (64, Some("serve.failed")));
    let ran = crate::env().run(&["serve", "--listen", "somewhere", "--json"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (64, Some("usage")));
    let ran = crate::env().run(&["serve", "--tls-cert", "x.pem", "--tls-key", "x.pem", "--json"]);
    assert_eq!((ran.code, ran.json()["error"]["code"].as_str()), (1, Some("serve.failed")));
    let daemon = Daemon::start_with(crate::env(), &["--listen", "0.0.0.0:0", "--tls"]);
    let url = daemon.url().to_owned();
    assert!(url.starts_with("https://"), "{url}");
    let print = daemon.serving["fingerprint"].as_str().unwrap();
    assert_eq!(print.split(':').count(), 32, "{print}");
    // Whoever speaks plainly is told nothing, not even that there is something.
    let port = url.rsplit(':').next().unwrap();
    let mut plain = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    std::io::Write::write_all(&mut plain, b"GET /api/v1/health HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let mut said = Vec::new();
    let _ = std::io::Read::read_to_end(&mut plain, &mut said);
    assert!(!String::from_utf8_lossy(&said).contains("HTTP"), "{said:?}");
    // Whoever has the certificate and the token is answered; the certificate alone is not enough.
    let certificate = std::fs::read(daemon.env.home().join("serve/certificate.pem")).unwrap();
    let certificate = CertificateDer::from_pem_slice(&certificate).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = Arc::new(client);
    let over_tls = |request: Request| {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = rustls::ClientConnection::new(Arc::clone(&client), name).unwrap();
        let stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let stream = rustls::StreamOwned::new(connection, stream);
        request.send_over(stream, &format!("localhost:{port}")).status
    };
    assert_eq!(over_tls(Request::get("/api/v1/sessions").bearer(daemon.token())), 200);
    assert_eq!(over_tls(Request::get("/api/v1/sessions")), 401);
    assert_eq!(over_tls(Request::get("/api/v1/sessions").bearer("wrong")), 401);
    // On the socket, which is the owner's alone, it needs none.
    let socket = UnixStream::connect(daemon.env.home().join("serve.sock")).unwrap();
    let request = Request::get("/api/v1/sessions").bearer(daemon.token());
    assert_eq!(request.send_over(socket, "localhost").status, 200);
}

#[test]
fn a_service_is_written_with_the_flags_it_was_asked_for_and_removed() {
    let env = crate::env();
    let ran = env.run(&["serve", "--install", "--listen", "127.0.0.1:7777", "--json"]).success();
    let file = ran.json()["path"].as_str().unwrap().to_owned();
    let root = env.user().parent().unwrap().to_string_lossy().into_owned();
    let file = file.replace("[root]", &root);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("serve") && text.contains("127.0.0.1:7777"), "{text}");
    assert!(text.contains(&*env.repo().to_string_lossy()), "{text}");
    let open = env.run(&["serve", "--install", "--listen", "0.0.0.0:7777", "--json"]);
    assert_eq!((open.code, open.json()["error"]["code"].as_str()), (64, Some("serve.failed")));
    env.run(&["serve", "--uninstall", "--json"]).success();
    assert!(!fs::exists(&file).unwrap());
    let none = env.run(&["serve", "--uninstall", "--json"]).success();
    assert_eq!(none.json()["path"], serde_json::Value::Null);
}
