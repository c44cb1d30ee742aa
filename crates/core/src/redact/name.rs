//! Knows which names hold secrets: `DB_PASSWORD`, `clientSecret`, `x-api-key`, but not
//! `password_hash`, `max_tokens`, `nextPageToken` or `public_key`.

use super::judge::Trust;
use super::words;

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) kind: &'static str,
    pub(super) trust: Trust,
    /// Written as an environment variable.
    pub(super) shouted: bool,
    /// The value may be base64 of `user:password`.
    pub(super) auth: bool,
}

pub(super) const AWS_SECRET: &str = "aws-secret-key";
/// Words of a name that tell whose secret it is.
const OWNERS: &[(&str, &str)] = &[
    ("aws", AWS_SECRET),
    ("heroku", "heroku-key"),
    ("datadog", "datadog-key"),
    ("dd", "datadog-key"),
    ("cloudflare", "cloudflare-token"),
    ("cf", "cloudflare-token"),
    ("twilio", "twilio-token"),
    ("algolia", "algolia-key"),
    ("azure", "azure-secret"),
    ("arm", "azure-secret"),
    ("okta", "okta-token"),
    ("fastly", "fastly-token"),
    ("mailgun", "mailgun-key"),
    ("mailchimp", "mailchimp-key"),
    ("newrelic", "newrelic-key"),
    ("sentry", "sentry-token"),
    ("circleci", "circleci-token"),
    ("codecov", "codecov-token"),
    ("travis", "travis-token"),
    ("snyk", "snyk-token"),
    ("sonar", "sonar-token"),
    ("jenkins", "jenkins-token"),
    ("jira", "atlassian-token"),
    ("confluence", "atlassian-token"),
    ("bitbucket", "bitbucket-token"),
    ("gitea", "gitea-token"),
    ("linode", "linode-token"),
    ("vultr", "vultr-key"),
    ("hcloud", "hetzner-token"),
    ("hetzner", "hetzner-token"),
    ("discord", "discord-token"),
    ("telegram", "telegram-token"),
    ("twitter", "twitter-token"),
    ("facebook", "facebook-token"),
    ("zendesk", "zendesk-token"),
    ("pagerduty", "pagerduty-key"),
    ("opsgenie", "opsgenie-key"),
    ("honeycomb", "honeycomb-key"),
    ("mistral", "mistral-key"),
    ("cohere", "cohere-key"),
    ("deepgram", "deepgram-key"),
    ("assemblyai", "assemblyai-key"),
    ("wandb", "wandb-key"),
    ("etherscan", "etherscan-key"),
    ("infura", "infura-key"),
    ("alchemy", "alchemy-key"),
    ("coinbase", "coinbase-key"),
    ("dropbox", "dropbox-token"),
    ("netlify", "netlify-token"),
    ("vercel", "vercel-token"),
    ("postmark", "postmark-token"),
    ("plaid", "plaid-token"),
    ("ibmcloud", "ibm-key"),
];

/// Reads an identifier, with the word that stands before it in the text if a space parts
/// them (`API key`). Returns nothing if it does not name a secret.
pub(super) fn classify(ident: &[u8], before: &[u8]) -> Option<Name> {
    if !may_be_one(ident) {
        return None;
    }
    let words = split(ident);
    let mut rest = &words[..];
    while let [head @ .., last] = rest {
        let counted = last.bytes().all(|b| b.is_ascii_digit());
        if !counted && !words::has(words::TRAILERS, last) {
            break;
        }
        rest = head;
    }
    let (last, head) = rest.split_last()?;
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = String::from_utf8_lossy(before).to_ascii_lowercase();
    let previous = head.last().map_or(before.as_str(), String::as_str);
    let (kind, trust) = meaning(last, previous)?;
    if matches!(head, [.., secret, access] if secret == "secret" && access == "access") {
        let shouted = ident.iter().all(|&b| !b.is_ascii_lowercase());
        return Some(Name { kind: AWS_SECRET, trust, shouted, auth: false });
    }
    let owner = OWNERS.iter().find(|(word, _)| rest.iter().any(|w| w == word));
    let kind = owner.filter(|_| trust == Trust::Token).map_or(kind, |(_, owned)| owned);
    let shouted = ident.iter().all(|&b| !b.is_ascii_lowercase());
    Some(Name { kind, trust, shouted, auth: last == "auth" })
}

/// Whether one of the words that [`meaning`] knows is in a name: nearly no key of a document has one, and taking a name
/// apart costs more than all the rest.
fn may_be_one(ident: &[u8]) -> bool {
    const ROOTS: [&[u8]; 12] = [
        b"pass", b"pwd", b"psw", b"pw", b"pat", b"secret", b"token", b"key", b"cred", b"auth",
        b"jwt", b"by",
    ];
    let begins = |rest: &[u8], root: &[u8]| {
        rest.get(..root.len()).is_some_and(|start| start.eq_ignore_ascii_case(root))
    };
    (0..ident.len()).any(|at| {
        matches!(ident[at] | 0x20, b'p' | b's' | b't' | b'k' | b'c' | b'a' | b'j' | b'b')
            && ROOTS.iter().any(|root| begins(&ident[at..], root))
    })
}

fn meaning(last: &str, previous: &str) -> Option<(&'static str, Trust)> {
    let ends = |tails: &[&str]| tails.iter().any(|tail| last.ends_with(tail));
    let follows = |list: &str| words::has(list, previous);
    match last {
        "passwordless" => None,
        _ if follows("hashed encrypted hash forgot") => None,
        "by" if previous == "identified" => Some(("password", Trust::Password)),
        "pass" if follows(words::PASSES) => Some(("password", Trust::Password)),
        "pass" | "psw" | "pw" => Some(("password", Trust::Token)),
        _ if ends(&["password", "passwd", "passphrase", "passcode", "pwd", "passwort"]) => {
            Some(("password", Trust::Password))
        }
        _ if ends(&["secret"]) => Some(("secret", Trust::Token)),
        _ if ends(&["token"]) && !follows(words::NOT_TOKENS) => Some(("token", Trust::Token)),
        "jwt" | "pat" => Some(("token", Trust::Token)),
        _ if ends(&["apikey", "appkey", "authkey"]) => Some(("api-key", Trust::Token)),
        _ if ends(&["privatekey"]) => Some(("private-key", Trust::Token)),
        _ if ends(&["secretkey", "accesskey", "signingkey", "encryptionkey", "masterkey"])
            || ends(&["accountkey", "sharedkey", "presharedkey"]) =>
        {
            Some(("key", Trust::Token))
        }
        "key" => key(previous),
        "credential" | "credentials" | "creds" | "cred" => Some(("credential", Trust::Token)),
        "auth" => Some(("auth", Trust::Token)),
        _ => None,
    }
}

fn key(previous: &str) -> Option<(&'static str, Trust)> {
    match previous {
        _ if words::has(words::NOT_KEYS, previous) => None,
        "api" | "app" | "application" => Some(("api-key", Trust::Token)),
        "private" => Some(("private-key", Trust::Token)),
        _ if words::has(words::KEYS, previous) => Some(("key", Trust::Token)),
        _ => Some(("key", Trust::Weak)),
    }
}

/// Splits `camelCase`, `snake_case` and `kebab-case` into lower-case words.
fn split(ident: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = b'_';
    for (i, &byte) in ident.iter().enumerate() {
        let lower_next = ident.get(i + 1).is_some_and(u8::is_ascii_lowercase);
        let starts = !previous.is_ascii_alphanumeric()
            || (byte.is_ascii_uppercase() && previous.is_ascii_lowercase())
            || (byte.is_ascii_uppercase() && previous.is_ascii_uppercase() && lower_next);
        if byte.is_ascii_alphanumeric() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        previous = byte;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(ident: &str) -> Option<Trust> {
        classify(ident.as_bytes(), b"").map(|name| name.trust)
    }

    #[test]
    fn names_of_secrets_are_known_in_every_style() {
        for ident in ["DB_PASSWORD", "dbPassword", "spring.datasource.password", "PGPASSWORD"] {
            assert_eq!(trust(ident), Some(Trust::Password), "{ident}");
        }
        for ident in
            ["clientSecret", "X-Api-Key", "APIKey", "npm_config__authToken", "SECRET_KEY_BASE"]
        {
            assert_eq!(trust(ident), Some(Trust::Token), "{ident}");
        }
    }

    #[test]
    fn names_that_only_speak_of_secrets_are_none() {
        for ident in [
            "password_hash",
            "max_tokens",
            "nextPageToken",
            "public_key",
            "token_url",
            "key_id",
            "keyboard",
        ] {
            assert_eq!(trust(ident), None, "{ident}");
        }
    }
}
