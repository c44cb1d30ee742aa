//! Tools for work: trackers, documents, design, CRM and data.

use super::super::rule::{Rule, exactly, lit, some, token};
use super::super::set::{ALNUM, DIGIT, DOTTED, HEX, LOWER_DIGIT, LOWER_HEX, URL64, WORD};

pub(super) const RULES: &[Rule] = &[
    token("linear-key", "lin_api_", &[some(ALNUM, 32)]),
    token("linear-key", "lin_oauth_", &[some(ALNUM, 32)]),
    token("linear-key", "lin_wh_", &[some(ALNUM, 20)]),
    token("notion-token", "ntn_", &[some(ALNUM, 40)]).word(),
    token("notion-token", "secret_", &[exactly(ALNUM, 43)]).word(),
    token("atlassian-token", "ATATT3", &[some(URL64.and(b"="), 40)]),
    token("atlassian-token", "ATCTT3", &[some(URL64.and(b"="), 40)]),
    token("figma-token", "figd_", &[some(URL64, 36)]).word(),
    token("figma-token", "figo_", &[some(URL64, 36)]).word(),
    token("postman-key", "PMAK-", &[exactly(HEX, 24), lit("-"), some(HEX, 30)]),
    token("postman-key", "PMAT-", &[some(UPPER, 26)]),
    token("airtable-token", "pat", &[exactly(ALNUM, 14), lit("."), exactly(LOWER_HEX, 64)]).word(),
    token("asana-token", "1/", &[some(DIGIT, 13), lit(":"), exactly(LOWER_HEX, 32)]).word(),
    token(
        "asana-token",
        "2/",
        &[some(DIGIT, 13), lit("/"), some(DIGIT, 13), lit(":"), some(LOWER_HEX, 32)],
    )
    .word(),
    token("clickup-token", "pk_", &[some(DIGIT, 7), lit("_"), exactly(UPPER, 32)]).word(),
    token("clickup-token", "clickup", &[lit("pk_"), some(WORD, 40)]).within(60),
    token("dropbox-token", "sl.", &[some(URL64.and(b"="), 100)]).word(),
    token("hubspot-token", "pat-na1-", &[some(HEX.and(b"-"), 36)]).word(),
    token("hubspot-token", "pat-na2-", &[some(HEX.and(b"-"), 36)]).word(),
    token("hubspot-token", "pat-eu1-", &[some(HEX.and(b"-"), 36)]).word(),
    token("contentful-token", "CFPAT-", &[some(URL64, 40)]),
    token("mapbox-token", "sk.eyJ", &[some(URL64, 30), lit("."), some(URL64, 16)]).word(),
    token("typeform-token", "tfp_", &[some(DOTTED, 40)]).word(),
    token("frameio-token", "fio-u-", &[some(URL64, 40)]),
    token("canva-secret", "cnvca", &[exactly(URL64, 51)]).word(),
    token("adobe-secret", "p8e-", &[exactly(URL64, 32)]).word(),
    token("intra42-secret", "s-s4t2", &[some(URL64, 40)]),
    token("labelbox-key", "lbx_", &[some(URL64, 40)]).word(),
    token("pinterest-token", "pina_", &[some(URL64, 30)]).word(),
    token("segment-token", "sgp_", &[exactly(ALNUM, 64)]).word(),
    token("customerio-key", "sa_live_", &[some(LOWER_DIGIT, 30)]),
    token("workato-token", "wrkaus-", &[some(DOTTED, 60)]),
    token("salesforce-token", "00D", &[exactly(ALNUM, 12), lit("!"), some(DOTTED, 60)]).word(),
    token("samsara-token", "samsara_api_", &[some(ALNUM, 24)]),
    token("zuplo-key", "zpka_", &[some(WORD, 40)]).word(),
    token("scalingo-token", "tk-us-", &[some(URL64, 48)]).word(),
    token("lark-webhook", "open.feishu.cn/open-apis/bot/v2/hook/", &[some(URL64, 30)]).keep(),
    token("dingtalk-token", "oapi.dingtalk.com/robot/send?access_token=", &[some(HEX, 40)]).keep(),
    token("evernote-token", "S=s", &[some(ALNUM.and(b":=-"), 60)]).word(),
];

const UPPER: super::super::set::Set = super::super::set::UPPER_DIGIT;
