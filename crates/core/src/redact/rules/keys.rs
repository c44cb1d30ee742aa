//! Key material that is a token of one line, and signed tokens.

use super::super::rule::{Rule, exactly, lit, some, token};
use super::super::set::{ALNUM, BASE64_PAD, Set, UPPER_DIGIT, URL64};

const LINES: Set = BASE64_PAD.and(b"\\");

pub(super) const RULES: &[Rule] = &[
    token("jwt", "eyJ", &[some(URL64, 8), lit("."), some(URL64, 8), lit("."), some(URL64, 8)])
        .word(),
    // Unsigned, or cut after the second dot: the claims alone are worth hiding.
    token("jwt", "eyJ", &[some(URL64, 8), lit(".eyJ"), some(URL64, 8)]).word(),
    // Encrypted, direct: the second part is empty.
    token("jwt", "eyJ", &[some(URL64, 8), lit(".."), some(URL64, 8), lit("."), some(URL64, 8)])
        .word(),
    token("jwt", "ZXlK", &[some(BASE64_PAD, 60)]).word(),
    token("age-key", "AGE-SECRET-KEY-1", &[some(UPPER_DIGIT, 40)]),
    token("age-key", "AGE-PLUGIN-", &[some(UPPER_DIGIT.and(b"-"), 30)]).word(),
    token("1password-key", "A3-", &[exactly(UPPER_DIGIT, 6), lit("-"), some(SECRET_KEY, 26)])
        .word(),
    token("1password-token", "ops_eyJ", &[some(BASE64_PAD, 60)]),
    // Keys in DER, without the lines around them: PKCS#1, PKCS#8, SEC 1, OpenSSH.
    token("private-key", "MIIEpAIBAAKCAQ", &[some(LINES, 40)]).word(),
    token("private-key", "MIIEowIBAAKCAQ", &[some(LINES, 40)]).word(),
    token("private-key", "MIIJKAIBAAKCAg", &[some(LINES, 40)]).word(),
    token("private-key", "MIIJKQIBAAKCAg", &[some(LINES, 40)]).word(),
    token("private-key", "MIIEvQIBADANBgkqhkiG9w0BAQEF", &[some(LINES, 40)]).word(),
    token("private-key", "MIIEvAIBADANBgkqhkiG9w0BAQEF", &[some(LINES, 40)]).word(),
    token("private-key", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEH", &[some(LINES, 40)]).word(),
    token("private-key", "MHcCAQEEI", &[some(LINES, 60)]).word(),
    token("private-key", "MC4CAQAwBQYDK2VwBCIEI", &[some(LINES, 30)]).word(),
    token("private-key", "b3BlbnNzaC1rZXktdjE", &[some(LINES, 40)]).word(),
    // The armour itself in base64, as in a kubeconfig.
    token("private-key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBL", &[some(LINES, 40)]).word(),
    token("private-key", "LS0tLS1CRUdJTiBQUklWQVRFIEtF", &[some(LINES, 40)]).word(),
    token("private-key", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtF", &[some(LINES, 40)]).word(),
    token("private-key", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg", &[some(LINES, 40)]).word(),
    token("private-key", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBL", &[some(LINES, 40)]).word(),
    token("minisign-key", "RWRTY0Iy", &[some(BASE64_PAD, 60)]).word(),
    token("nostr-key", "nsec1", &[exactly(ALNUM, 58)]).word(),
    token("bitcoin-key", "xprv", &[exactly(ALNUM, 107)]).word(),
];

const SECRET_KEY: Set = UPPER_DIGIT.and(b"-");
