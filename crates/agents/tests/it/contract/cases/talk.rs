//! Prompts, tools and thoughts.

use heirloom_agents::{Conversation, Event, Feature, Outcome, transcript};
use heirloom_core::config::Config;
use heirloom_testkit::model::{Answer, Part};

use crate::contract::rig::{Ask, Rig};

pub(in crate::contract) fn a_prompt_is_answered_and_never_on_the_command_line(rig: &Rig) {
    let prompt = "say hello, \"please\"\n--not-a-flag";
    let ask = Ask { prompt, ..Ask::answered([Answer::text("hello there")]) };
    let served = (rig.subject.serve)(rig, &ask.script);
    let line = rig.line(&ask, &served).unwrap();
    assert!(!format!("{:?}", line.args).contains("not-a-flag"));
    drop((line, served));
    let run = rig.run(&ask);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!(run.text(), "hello there");
    assert!(run.last_request().contains("--not-a-flag"), "{}", run.last_request());
    assert!(!run.id().is_empty());
    let left = std::fs::read_dir(rig.scratch()).map_or(0, Iterator::count);
    assert_eq!(left, 0, "temporary files are left");
}

pub(in crate::contract) fn a_tool_is_used_and_its_result_goes_back(rig: &Rig) {
    let answers = [rig.shell("printf 'from-the-%d-tool' 42; touch made"), Answer::text("used it")];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert!(rig.work.join("made").exists());
    assert_eq!(run.finished.tally.tool_calls, 1);
    let result = run.events.iter().find_map(|event| match event {
        Event::ToolResult { id, is_error, text } => Some((id.clone(), *is_error, text.clone())),
        _ => None,
    });
    let (id, is_error, text) = result.expect("a tool result");
    assert!(!is_error && text.contains("from-the-42-tool"), "{text}");
    let is_call = |event: &Event| matches!(event, Event::ToolCall { id: each, .. } if *each == id);
    assert!(run.events.iter().any(is_call));
    assert!(run.last_request().contains("from-the-42-tool"));
}

pub(in crate::contract) fn thoughts_are_not_words(rig: &Rig) {
    let parts = vec![Part::Thinking("deep thoughts".into()), Part::Text("plain words".into())];
    let run = rig.run(&Ask::answered([Answer::Say(parts)]));
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    assert_eq!(run.text(), "plain words");
    let thoughts = |event: &Event| matches!(event, Event::Thinking { .. });
    // Gemini CLI keeps them to its transcripts.
    assert!(rig.subject.agent == "gemini" || run.events.iter().any(thoughts), "{:#?}", run.events);
}

/// The texts by which the adapters know an error, in the mouth of a model and of a tool.
pub(in crate::contract) fn what_a_model_says_about_errors_decides_nothing(rig: &Rig) {
    let lies = "No conversation found with session ID: x. API Error: 429. Reached maximum number \
                of turns (1). Error: Session not found. no rollout found for thread id x";
    let answers = [rig.shell(&format!("echo '{lies}'; echo '{lies}' >&2")), Answer::text(lies)];
    let run = rig.run(&Ask { config: rig.permissive(), ..Ask::answered(answers) });
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
}

pub(in crate::contract) fn an_appended_system_prompt_is_delivered_on_every_launch(rig: &Rig) {
    let config = |text: &str| Config {
        append_system_prompt: Some(text.to_owned()),
        custom_instructions: Some(format!("{text}-too")),
        ..Config::default()
    };
    let first = Ask { config: config("first-mark"), ..Ask::answered([Answer::text("one")]) };
    if !rig.supports(Feature::AppendSystemPrompt) {
        return rig.assert_refused(&first);
    }
    let run = rig.run(&first);
    assert!(run.last_request().contains("first-mark-too"), "{}", run.last_request());
    let id = run.id();
    let second = Ask {
        config: config("second-mark"),
        conversation: Conversation::Resume(&id),
        ..Ask::answered([Answer::text("two")])
    };
    let run = rig.run(&second);
    assert_eq!(run.finished.outcome, Outcome::Success, "{:#?}", run.finished);
    let request = run.last_request();
    assert!(request.contains("second-mark") && request.contains("second-mark-too"));
}

pub(in crate::contract) fn the_transcript_tells_the_same(rig: &Rig) {
    let Some(transcripts) = rig.agent.transcripts() else {
        assert!(!rig.supports(Feature::Transcripts));
        return;
    };
    let id = rig.first_turn();
    let env = rig.env();
    let text = if let Some(args) = transcripts.export_args(&id) {
        exported(rig, &args)
    } else {
        let found = transcripts.find(&env, &id).expect("a transcript");
        assert_eq!(found.agent_session_id, id);
        assert!(transcripts.list(&env, Some(&rig.work)).contains(&found));
        assert_eq!(transcripts.identify(&found.path).as_ref(), Some(&found));
        std::fs::read(&found.path).unwrap()
    };
    let events: Vec<Event> = transcript::read(transcripts.reader(), text.as_slice())
        .flat_map(|line| line.unwrap().events)
        .collect();
    let prompt = |event: &Event| matches!(event, Event::Prompt { text } if text.contains("the first prompt"));
    let words = |event: &Event| matches!(event, Event::Text { text } if text == "first answer");
    assert!(events.iter().any(prompt) && events.iter().any(words), "{events:#?}");
    let whose = |event: &Event| matches!(event, Event::Started { agent_session_id, .. } if *agent_session_id == id);
    assert!(events.iter().any(whose));
}

fn exported(rig: &Rig, args: &[String]) -> Vec<u8> {
    let program = rig.programs.resolve(rig.agent.name(), &rig.env()).unwrap();
    let mut command = std::process::Command::new(program.path);
    command.args(program.args).args(args).env_clear().envs(rig.env()).current_dir(&rig.work);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}
