//! Model providers and the services around them.

use super::super::rule::{Rule, exactly, lit, some, token};
use super::super::set::{ALNUM, HEX, LETTER, LOWER_HEX, URL64, WORD};

pub(super) const RULES: &[Rule] = &[
    token("anthropic-key", "sk-ant-", &[some(URL64, 20)]),
    token("openai-key", "sk-proj-", &[some(URL64, 20)]),
    token("openai-key", "sk-svcacct-", &[some(URL64, 20)]),
    token("openai-key", "sk-admin-", &[some(URL64, 20)]),
    token("openai-key", "sk-None-", &[some(URL64, 20)]),
    token("openai-key", "T3BlbkFJ", &[some(URL64, 20)]).after(URL64, 20, 90),
    // Also the form of DeepSeek, Moonshot, Stability and many gateways.
    token("sk-key", "sk-", &[some(ALNUM, 20)]).word().shared(),
    token("openrouter-key", "sk-or-v1-", &[some(HEX, 32)]),
    token("langfuse-key", "sk-lf-", &[some(URL64, 32)]),
    token("litellm-key", "sk-litellm-", &[some(URL64, 16)]),
    token("minimax-key", "sk-api-", &[some(URL64, 40)]),
    token("huggingface-token", "hf_", &[some(ALNUM, 30)]).word(),
    token("huggingface-token", "api_org_", &[some(LETTER, 30)]).word(),
    token("replicate-token", "r8_", &[some(ALNUM, 37)]).word(),
    token("groq-key", "gsk_", &[some(ALNUM, 40)]).word(),
    token("perplexity-key", "pplx-", &[some(ALNUM, 40)]).word(),
    token("xai-key", "xai-", &[some(URL64, 60)]).word(),
    token("cerebras-key", "csk-", &[some(ALNUM, 40)]).word(),
    token("nvidia-key", "nvapi-", &[some(URL64, 50)]).word(),
    token("pinecone-key", "pcsk_", &[some(WORD, 50)]).word(),
    token("together-key", "tgp_v1_", &[some(URL64, 40)]),
    token("langsmith-key", "lsv2_pt_", &[some(WORD, 32)]),
    token("langsmith-key", "lsv2_sk_", &[some(WORD, 32)]),
    token("llamaindex-key", "llx-", &[some(ALNUM, 40)]).word(),
    token("wandb-key", "wandb_v1_", &[some(WORD, 60)]),
    token("tavily-key", "tvly-", &[some(URL64, 20)]).word(),
    token("firecrawl-key", "fc-", &[exactly(LOWER_HEX, 32)]).word(),
    token("elevenlabs-key", "sk_", &[exactly(LOWER_HEX, 48)]).word(),
    token("cartesia-key", "sk_car_", &[some(WORD, 20)]),
    token("fireworks-key", "fw_", &[some(ALNUM, 22)]).word(),
    token("voyage-key", "voyage", &[lit("pa-"), some(URL64, 40)]).within(60),
    token("cursor-key", "key_", &[exactly(LOWER_HEX, 64)]).word(),
    token("devin-key", "apk_user_", &[some(URL64, 60)]),
    token("apify-token", "apify_api_", &[some(ALNUM, 30)]),
    token("unkey-key", "unkey_", &[some(ALNUM, 20)]).word(),
];
