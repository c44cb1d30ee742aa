//! Lists of words that [`judge`](super::judge) and [`name`](super::name) go by.
//!
//! Each is one string with spaces between the words: a list of this length in code would
//! hide the code. They are only read where a keyword was seen.

/// Tells whether `list` has `word`.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Returns the words of `list`.
pub(super) fn of(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

/// Words that stand for a value, alone or as a part of it.
pub(super) const STAND_INS: &str = "\
    redacted your example placeholder changeme change_me change-me replace insert xxxx **** .... \
    dummy todo goes_here goes-here _here -here secret-name not-a- not_a_ notasecret not-real ... \
    \u{2026} \u{2022}";

/// Words that are a value of something else, or the default of a test database.
pub(super) const WORDS: &str = "\
    password passwd pass pwd pw secret token key apikey api_key api-key admin root user username \
    guest test testing default none null nil undefined true false yes no empty unset string str \
    text bool boolean hidden masked required optional enabled disabled value foo bar baz foobar \
    postgres mysql redis mongo bearer basic credential credentials unknown missing invalid \
    expired omitted incorrect mandatory forbidden confirm encrypted hashed plaintext prompt \
    keychain keyring environment inherit managed generated protected sensitive authentication \
    changed updated redacted forgotten anonymous localhost postgresql identity external internal \
    disallow supported provided specified";

/// Names of algorithms and the like: letters and digits, but no secret.
pub(super) const TERMS: &str = "\
    sha1 sha2 sha256 sha384 sha512 md5 base64 base32 base58 utf8 utf16 argon2 pbkdf2 oauth2 \
    ed25519 x25519 rs256 hs256 es256 http2 ipv4 ipv6 k8s i18n l10n a11y int32 int64 uint8 x509 \
    pkcs blake aes128 aes256 aes- p256 secp256 web3 totp6 u64 u32";

/// What a value begins with when it only says where the secret is kept, or is a digest.
pub(super) const REFERENCES: &str = "\
    process.env os.environ os.getenv env. env: env( secrets. secret: vars. var. local. data. \
    module. vault: vault/ ssm: arn: op:// file: ref+ sops: enc[ !vault !secret projects/ http:// \
    https:// sha1: sha1- sha256: sha256- sha384- sha512: sha512- md5: h1: import.meta config. \
    self. this. request. req. args. params. ctx. keyring: keychain: azurekeyvault gcp-sm: \
    aws-sm: @microsoft.keyvault ssh-";

/// Words after the telling one that do not change what the value is.
pub(super) const TRAILERS: &str = "\
    prod production dev development staging stage test live local default new old current \
    previous primary secondary main backup value val str string text plain plaintext raw b64 \
    base64 env encoded base rw ro v1 v2 ci data";

/// Before `token`: it marks a place or a piece of text, and opens nothing.
pub(super) const NOT_TOKENS: &str = "\
    next page continuation pagination cursor sync stop eos bos pad unk mask special start end \
    max min cancel cancellation per num design css syntax lexer parser prev marker resume watch \
    list";

/// Before `key`: the value is a secret.
pub(super) const KEYS: &str = "\
    api access secret private auth encryption encrypt signing sign master account shared storage \
    service app application webhook admin deploy session cookie license server client jwt hmac \
    aes crypto preshared psk cipher write ingest ingestion integration subscription function \
    host azure openai anthropic stripe datadog dd sendgrid twilio github gitlab algolia heroku \
    cloudflare newrelic honeycomb segment mailgun mailchimp okta sentry gemini google gcp aws \
    bot";

/// Before `key`: the value is none.
pub(super) const NOT_KEYS: &str = "\
    public pub cache primary foreign sort partition map object s3 file row group index \
    idempotency dedup routing hash lookup range registry i18n translation locale config json \
    unique composite search verify verification verifying known authorized ssh site publishable \
    artifact restore lock state message label metric tag env query hot arrow enter escape \
    modifier meta host shift turn trust";

/// Before `pass`: it is short for password.
pub(super) const PASSES: &str = "\
    db user admin root smtp mail ftp ssh mysql pg redis login http basic proxy keystore key sudo \
    my email imap database auth mongo postgres api store registry docker wifi account";
