// Written by memcli: `memcli agent uninstall opencode` removes this file.
import { spawnSync } from "node:child_process"

export const Memcli = async ({ directory }) => {
  const call = (event, fields) => {
    const input = JSON.stringify({ cwd: directory, ...fields })
    const options = { cwd: directory, input, encoding: "utf8", timeout: 4000 }
    const done = spawnSync("memcli", ["hook", "run", event, "--agent", "opencode"], options)
    return done.status === 0 ? done.stdout.trimEnd() : ""
  }
  const started = new Set()
  const found = new Map()
  const start = (sessionID, source) => {
    started.add(sessionID)
    return call("session-start", { sessionID, source })
  }
  return {
    "chat.message": async (input, output) => {
      const part = output.parts.findLast((one) => one.type === "text" && !one.synthetic)
      if (!part) return
      const { sessionID } = input
      const texts = started.has(sessionID) ? [] : [start(sessionID, "startup")]
      texts.push(call("prompt", { sessionID, prompt: part.text }))
      part.text = [part.text, ...texts.filter(Boolean)].join("\n\n")
    },
    "tool.execute.before": async (input, output) => {
      const { sessionID, tool } = input
      if (!["read", "edit", "write", "patch", "multiedit", "apply_patch", "bash"].includes(tool)) return
      const text = call("before-tool", { sessionID, tool_name: tool, tool_input: output.args })
      if (text.startsWith('{"deny":')) throw new Error(JSON.parse(text).deny)
      if (text) found.set(sessionID, [...(found.get(sessionID) ?? []), text])
    },
    "tool.execute.after": async (input, output) => {
      const texts = found.get(input.sessionID)
      if (!texts || typeof output.output !== "string") return
      found.delete(input.sessionID)
      output.output = [output.output, ...texts].join("\n\n")
    },
    event: async ({ event }) => {
      const sessionID = event.properties?.sessionID
      if (event.type === "session.compacted") call("after-compaction", { sessionID })
      if (event.type === "session.idle") call("stop", { sessionID })
    },
  }
}
