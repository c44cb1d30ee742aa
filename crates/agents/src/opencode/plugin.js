// Calls `heirloom hook opencode EVENT`, which decides; this only carries words to and fro.
// Written by `heirloom init`. Whatever goes wrong here, opencode goes on as if it were not there.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const TIMEOUT_MS = 15000

// Where we were, or else wherever PATH has us now: a program that was moved is no error.
async function ask(event, payload) {
  return (await call(PROGRAM, event, payload)) ?? (await call("heirloom", event, payload)) ?? {}
}

// The answer; nothing where there is no such program.
function call(program, event, payload) {
  return new Promise((resolve) => {
    let out = ""
    let timer
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      const child = spawn(program, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], cwd: payload.cwd })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        done({})
      }, TIMEOUT_MS)
      child.on("error", () => done(undefined))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (out += data))
      child.on("close", () => {
        try {
          done(out.trim() ? JSON.parse(out) : {})
        } catch {
          done({})
        }
      })
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      done(undefined)
    }
  })
}

// Somebody may have the package and the file that `heirloom init` writes: told by both, everything would be told twice.
const own = {}
const speaking = (globalThis[Symbol.for("heirloom")] ??= new Map()) // directory -> which of them speaks there

export const Heirloom = async ({ directory }) => {
  if ((speaking.get(directory) ?? own) !== own) return {}
  speaking.set(directory, own)
  const created = new Set() // conversations that began in this process
  const parents = new Map() // a subagent's conversation -> the one it belongs to
  const begun = new Set()
  const context = new Map() // conversation -> what each request is told on top
  const warnings = new Map() // tool use -> what its result is told on top

  const base = (id) => {
    const parent = parents.get(id)
    return parent
      ? { session_id: parent, cwd: directory, agent_id: id }
      : { session_id: id, cwd: directory }
  }
  const keep = (id, key, text) => {
    if (!context.has(id)) context.set(id, {})
    context.get(id)[key] = text
  }
  const start = async (id, source) => {
    begun.add(id)
    const answer = await ask("SessionStart", { ...base(id), source })
    keep(id, "start", answer.context)
  }

  return {
    event: async ({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.created") {
        const info = properties.info ?? {}
        if (info.parentID) parents.set(info.id, parents.get(info.parentID) ?? info.parentID)
        else created.add(info.id)
      } else if (event.type === "session.compacted") {
        await start(properties.sessionID, "compact")
      }
    },
    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (parents.has(id)) return
      if (!begun.has(id)) await start(id, created.has(id) ? "startup" : "resume")
      const prompt = (output.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
      const answer = await ask("UserPromptSubmit", { ...base(id), prompt })
      // There is no way to tell the person alone, so the model is told what they should hear.
      keep(id, "prompt", [answer.message, answer.context].filter(Boolean).join("\n"))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const kept = context.get(input.sessionID) ?? {}
      for (const text of [kept.start, kept.prompt]) if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      const answer = await ask("PreToolUse", {
        ...base(input.sessionID),
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
      })
      if (answer.block) throw new Error(answer.block)
      if (answer.context) warnings.set(input.callID, answer.context)
    },
    "tool.execute.after": async (input, output) => {
      const answer = await ask("PostToolUse", {
        ...base(input.sessionID),
        tool_name: input.tool,
        tool_input: input.args,
        tool_use_id: input.callID,
        tool_response: output.output,
        exit: output.metadata?.exit ?? undefined,
      })
      for (const text of [warnings.get(input.callID), answer.context])
        if (text) output.output = `${output.output}\n\n${text}`
      warnings.delete(input.callID)
    },
    "experimental.session.compacting": async (input, output) => {
      const answer = await ask("PreCompact", { ...base(input.sessionID), trigger: "auto" })
      if (answer.context) output.context.push(answer.context)
    },
  }
}
