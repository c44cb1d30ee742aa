//! Chat, mail and messages.

use super::super::rule::{Rule, between, exactly, lit, some, token};
use super::super::set::{ALNUM, DIGIT, HEX, LOWER_HEX, Set, URL64};

const PATH: Set = URL64.and(b"/+.@%=");

pub(super) const RULES: &[Rule] = &[
    token("slack-token", "xoxb-", &[some(URL64, 16)]),
    token("slack-token", "xoxp-", &[some(URL64, 16)]),
    token("slack-token", "xoxa-", &[some(URL64, 8)]),
    token("slack-token", "xoxr-", &[some(URL64, 8)]),
    token("slack-token", "xoxo-", &[some(URL64, 8)]),
    token("slack-token", "xoxs-", &[some(URL64, 8)]),
    token("slack-token", "xoxc-", &[some(URL64, 16)]),
    token("slack-token", "xoxd-", &[some(PATH, 30)]),
    token("slack-token", "xoxe-", &[some(URL64, 20)]),
    token("slack-token", "xoxe.xox", &[some(URL64, 20)]),
    token("slack-token", "xapp-", &[between(DIGIT, 1, 2), lit("-"), some(URL64, 16)]),
    token("slack-webhook", "hooks.slack.com/services/", &[some(PATH, 24)]).keep(),
    token("slack-webhook", "hooks.slack.com/workflows/", &[some(PATH, 24)]).keep(),
    token("slack-webhook", "hooks.slack.com/triggers/", &[some(PATH, 24)]).keep(),
    token("discord-webhook", "discord.com/api/webhooks/", &[some(PATH, 40)]).keep(),
    token("discord-webhook", "discordapp.com/api/webhooks/", &[some(PATH, 40)]).keep(),
    token("teams-webhook", "webhook.office.com/webhookb2/", &[some(PATH, 40)]).keep(),
    token("zapier-webhook", "hooks.zapier.com/hooks/catch/", &[some(PATH, 10)]).keep(),
    token("discord-token", "discord", DISCORD).within(100),
    token("discord-token", "Bot ", DISCORD).within(1),
    token("discord-token", "bot", DISCORD).within(24),
    token("telegram-token", ":AA", &[some(URL64, 30)]).after(DIGIT, 8, 11),
    token("twilio-key", "twilio", &[lit("SK"), exactly(HEX, 32)]).within(60),
    token("twilio-key", "SK", &[exactly(LOWER_HEX, 32)]).word(),
    token("sendgrid-key", "SG.", &[some(URL64, 16), lit("."), some(URL64, 16)]).word(),
    token("mailgun-key", "key-", &[exactly(LOWER_HEX, 32)]).word(),
    token("mailgun-key", "pubkey-", &[exactly(LOWER_HEX, 32)]).word(),
    token(
        "mailgun-key",
        "mailgun",
        &[exactly(HEX, 32), lit("-"), exactly(HEX, 8), lit("-"), exactly(HEX, 8)],
    )
    .within(60),
    token("mailchimp-key", "-us", &[between(DIGIT, 1, 2)]).after(LOWER_HEX, 32, 32),
    token("mandrill-key", "md-", &[exactly(URL64, 22)]).word(),
    token("brevo-key", "xkeysib-", &[some(URL64, 60)]),
    token("brevo-key", "xsmtpsib-", &[some(URL64, 60)]),
    token("mailersend-token", "mlsn.", &[some(ALNUM, 30)]).word(),
    token("resend-key", "re_", &[exactly(ALNUM, 8), lit("_"), some(ALNUM, 20)]).word(),
    token("onesignal-key", "os_v2_", &[some(URL64, 60)]),
    token("facebook-token", "EAA", &[some(ALNUM, 80)]).word(),
    token("fcm-key", ":APA91b", &[some(URL64, 60)]).after(URL64, 8, 24),
    token("twitter-token", "twitter", &[lit("AAAAAAAAAAAAAAAAAAAA"), some(ALNUM.and(b"%"), 60)])
        .within(60),
    token("beamer-token", "b_", &[exactly(URL64.and(b"="), 44)]).word(),
    token("nylas-key", "nyk_", &[some(ALNUM, 50)]).word(),
    token("telnyx-key", "KEY0", &[some(URL64, 40)]).word(),
];

const DISCORD: &[super::super::rule::Part] =
    &[between(URL64, 23, 29), lit("."), between(URL64, 5, 7), lit("."), between(URL64, 25, 45)];
