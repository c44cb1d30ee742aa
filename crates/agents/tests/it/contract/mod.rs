//! What every agent must do, written once and run against each of them.
//!
//! A case that an agent cannot pass because it lacks the feature checks that the launch says so
//! instead. What an adapter relies on beyond that (flags, texts, exit codes) is asserted in the
//! agent's own file here, so that a version that changes them fails a test that names it.

mod cases;
mod claude;
mod claude_hooks;
mod codex;
mod gemini;
mod hooked;
mod hooks;
mod opencode;
mod rig;
mod sim;

/// The whole contract as tests of one agent: of the built-in one always, of a real one when asked
/// for, since it has to be installed first.
macro_rules! contract {
    ($(#[$ignored:meta])? $subject:ident) => {
        crate::contract::contract!($(#[$ignored])? $subject;
            talk::a_prompt_is_answered_and_never_on_the_command_line,
            talk::a_tool_is_used_and_its_result_goes_back,
            talk::thoughts_are_not_words,
            talk::what_a_model_says_about_errors_decides_nothing,
            talk::an_appended_system_prompt_is_delivered_on_every_launch,
            talk::the_transcript_tells_the_same,
            sessions::a_chosen_id_is_used,
            sessions::a_chosen_id_is_used_only_once,
            sessions::a_resumed_conversation_remembers,
            sessions::a_fork_remembers_and_leaves_the_original_alone,
            sessions::an_unknown_id_is_stale_and_starts_nothing,
            sessions::a_conversation_has_one_writer,
            failures::a_bad_key_is_auth,
            failures::too_many_requests_is_rate_limited,
            failures::no_capacity_is_overloaded,
            failures::a_broken_server_is_an_api_error,
            failures::a_cut_connection_is_tried_again,
            limits::turns_are_limited,
            limits::cost_is_limited,
            limits::a_forbidden_tool_is_not_used,
            stops::an_interrupted_agent_can_be_resumed,
            stops::a_terminated_agent_is_interrupted,
            stops::a_killed_agent_leaves_nothing_running_and_can_be_resumed,
            dialogue::several_prompts_are_several_results,
            dialogue::a_permitted_tool_is_used,
            dialogue::a_denied_tool_is_not_used_and_the_model_hears_why,
            dialogue::an_interrupt_goes_over_the_same_wire,
        );
    };
    (#[$ignored:meta] $subject:ident; $($group:ident :: $case:ident),* $(,)?) => {
        $(
            #[test]
            #[$ignored]
            fn $case() {
                crate::contract::cases::$group::$case(&crate::contract::rig::Rig::new(&$subject));
            }
        )*
    };
    ($subject:ident; $($group:ident :: $case:ident),* $(,)?) => {
        $(
            #[test]
            fn $case() {
                crate::contract::cases::$group::$case(&crate::contract::rig::Rig::new(&$subject));
            }
        )*
    };
}
use contract;
