// A whole session with `bothy acp`, by the TypeScript SDK of the protocol. BOTHY_ACP_SDK names the folder of
// node modules; the arguments are the program bothy and the project. It ends with 0 when all holds.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const acp = await import(pathToFileURL(join(process.env.BOTHY_ACP_SDK, "@agentclientprotocol/sdk/dist/v1/stable/acp.js")));
const [bothy, project] = process.argv.slice(2);
const { agent: agentMethods, client: clientMethods } = acp.methods;

// Editor keeps what it was told, and answers questions as it is told to.
class Editor {
  told = [];
  asked = [];
  answer = null;
  #waiting = [];

  update(update) {
    this.told.push(update);
    this.#waiting = this.#waiting.filter(({ is, resolve }) => !is() || resolve());
  }

  // waits until something was told.
  until(is) {
    return is() ? Promise.resolve() : new Promise((resolve) => this.#waiting.push({ is, resolve }));
  }

  text(kind) {
    return this.told.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join("");
  }

  // calls are the last state of each call, by its id.
  calls() {
    const all = new Map();
    for (const u of this.told) {
      if (u.sessionUpdate === "tool_call") {
        assert(!all.has(u.toolCallId), `the call ${u.toolCallId} begins twice`);
        all.set(u.toolCallId, u);
      } else if (u.sessionUpdate === "tool_call_update") {
        assert(all.has(u.toolCallId), `the call ${u.toolCallId} never began`);
        all.set(u.toolCallId, { ...all.get(u.toolCallId), ...u });
      }
    }
    return [...all.values()];
  }

  // with talks with a bridge of its own. Buffers are texts that are not saved, by their paths.
  async with(talk, clientCapabilities = {}, buffers = {}) {
    const bridge = spawn(bothy, ["acp"], { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise((resolve) => bridge.on("close", resolve));
    const stream = acp.ndJsonStream(Writable.toWeb(bridge.stdin), Readable.toWeb(bridge.stdout));
    await acp
      .client({ name: "interop" })
      .onRequest(clientMethods.session.requestPermission, ({ params }) => {
        this.asked.push(params);
        const option = params.options.find((o) => o.kind === this.answer);
        assert(option, `nothing is ${this.answer}: ${JSON.stringify(params.options)}`);
        return { outcome: { outcome: "selected", optionId: option.optionId } };
      })
      .onRequest(clientMethods.fs.readTextFile, ({ params }) => {
        if (!(params.path in buffers)) throw acp.RequestError.resourceNotFound(params.path);
        return { content: buffers[params.path] };
      })
      .onNotification(clientMethods.session.update, ({ params }) => this.update(params.update))
      .connectWith(stream, async (agent) => {
        const hello = await agent.request(agentMethods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
        assert.equal(hello.protocolVersion, 1);
        assert.equal(hello.agentCapabilities.loadSession, true);
        assert.deepEqual(hello.authMethods, []);
        await talk(inOrder(agent));
      });
    bridge.stdin.destroy();
    await ended;
  }
}

// inOrder gives an answer when what came before it was handled: the SDK gives it at once.
const inOrder = (agent) => ({
  request: async (method, params) => {
    const result = await agent.request(method, params);
    await new Promise((resolve) => setTimeout(resolve));
    return result;
  },
  notify: (method, params) => agent.notify(method, params),
});
const killDaemon = () => {
  const { pid } = JSON.parse(execFileSync(bothy, ["status", "--json"], { cwd: project }));
  process.kill(pid, "SIGKILL");
};
const prompts = [];
const ask = (agent, sessionId, text) => {
  prompts.push(text);
  return agent.request(agentMethods.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
};
const write = (name) => `call write_file {"path":"${name}","content":"text\\n"}`;
const there = (name) => existsSync(join(project, name));

let sessionId;
const first = new Editor();
await first.with(async (agent) => {
  const made = await agent.request(agentMethods.session.new, { cwd: project, mcpServers: [] });
  sessionId = made.sessionId;
  assert.deepEqual(made.modes.availableModes.map((m) => m.id), ["interactive", "restricted", "workspace"]);
  assert.deepEqual(made.configOptions.map((o) => o.id), ["mode", "model", "agent"]);
  await first.until(() => first.told.some((u) => u.sessionUpdate === "available_commands_update"));

  assert.equal((await ask(agent, sessionId, "hello")).stopReason, "end_turn");
  assert.equal(first.text("agent_message_chunk"), "you said: hello");

  // Allowed, and rejected.
  await agent.request(agentMethods.session.setMode, { sessionId, modeId: "interactive" });
  first.answer = "allow_once";
  assert.equal((await ask(agent, sessionId, write("allowed.txt"))).stopReason, "end_turn");
  assert.equal(readFileSync(join(project, "allowed.txt"), "utf8"), "text\n");
  assert.equal(first.asked.length, 1);
  assert.equal(first.asked[0].toolCall.kind, "edit");
  assert.deepEqual(first.asked[0].toolCall.locations, [{ path: join(project, "allowed.txt") }]);
  const { type, path, newText } = first.asked[0].toolCall.content[0];
  assert.deepEqual({ type, path, newText }, { type: "diff", path: join(project, "allowed.txt"), newText: "text\n" });
  first.answer = "reject_once";
  assert.equal((await ask(agent, sessionId, write("rejected.txt"))).stopReason, "end_turn");
  assert.equal(first.asked.length, 2);
  assert(!there("rejected.txt"));
  assert.deepEqual(first.calls().map((c) => c.status), ["completed", "failed"]);

  // Another mode.
  const { configOptions } = await agent.request(agentMethods.session.setConfigOption, { sessionId, configId: "mode", value: "restricted" });
  assert.equal(configOptions[0].currentValue, "restricted");
  assert(first.told.some((u) => u.sessionUpdate === "current_mode_update" && u.currentModeId === "restricted"));
  assert.equal((await ask(agent, sessionId, write("unasked.txt"))).stopReason, "end_turn");
  assert(there("unasked.txt"));
  assert.equal(first.asked.length, 2);

  // Cancelled in the middle of a call, whose output was seen.
  first.answer = "allow_once";
  const cancelled = ask(agent, sessionId, 'call bash {"command":"echo begun; sleep 600"}');
  await first.until(() => first.told.some((u) => u.sessionUpdate === "tool_call_update" && u.status === "in_progress" && JSON.stringify(u.content ?? "").includes("begun")));
  await agent.notify(agentMethods.session.cancel, { sessionId });
  assert.equal((await cancelled).stopReason, "cancelled");
  assert.equal(first.calls().at(-1).kind, "execute");
  assert.equal(first.calls().at(-1).status, "failed");

  // The daemon is killed while the model writes.
  const twice = ask(agent, sessionId, "stall");
  await first.until(() => first.text("agent_message_chunk").includes("tick"));
  killDaemon();
  assert.equal((await twice).stopReason, "end_turn");
  assert.equal(first.text("agent_message_chunk").split("you said it twice: stall").length, 2);
});

// It is killed again, and another editor has all of it, once.
killDaemon();
const second = new Editor();
await second.with(async (agent) => {
  const { sessions } = await agent.request(agentMethods.session.list, { cwd: project });
  assert.deepEqual(sessions.map((s) => s.sessionId), [sessionId]);
  await agent.request(agentMethods.session.load, { sessionId, cwd: project, mcpServers: [] });
  assert.deepEqual(second.told.filter((u) => u.sessionUpdate === "user_message_chunk").map((u) => u.content.text), prompts);
  assert.deepEqual(second.calls().map((c) => [c.toolCallId, c.status]), first.calls().map((c) => [c.toolCallId, c.status]));
  assert.equal(second.text("agent_message_chunk").split("you said: hello").length, 2);
  assert.equal(second.text("agent_message_chunk").split("you said it twice: stall").length, 2);
  assert.equal((await ask(agent, sessionId, "and on")).stopReason, "end_turn");
  assert(second.text("agent_message_chunk").endsWith("you said: and on"));
  await agent.request(agentMethods.session.close, { sessionId });
});

const third = new Editor();
await third.with(async (agent) => {
  await agent.request(agentMethods.session.resume, { sessionId, cwd: project });
  assert.equal(third.told.filter((u) => u.sessionUpdate !== "available_commands_update").length, 0);
  assert.equal((await ask(agent, sessionId, "the end")).stopReason, "end_turn");
  assert.equal(third.text("agent_message_chunk"), "you said: the end");
});

// An editor that lends what it has not saved, and shows commands as terminals.
const fourth = new Editor();
const allowed = join(project, "allowed.txt");
await fourth.with(
  async (agent) => {
    const { sessionId } = await agent.request(agentMethods.session.new, { cwd: project, mcpServers: [] });
    const read = async () => {
      await ask(agent, sessionId, 'call read_file {"path":"allowed.txt"}');
      return fourth.text("agent_message_chunk");
    };
    assert((await read()).startsWith("the tool said: not saved"));
    assert.equal((await ask(agent, sessionId, write("allowed.txt"))).stopReason, "end_turn");
    assert.equal(readFileSync(allowed, "utf8"), "text\n");
    assert(fourth.text("agent_message_chunk").includes("ask the person to save"));
    assert.equal((await ask(agent, sessionId, 'call bash {"command":"echo one; echo two; exit 3"}')).stopReason, "end_turn");
    const call = fourth.told.find((u) => u.sessionUpdate === "tool_call" && u.kind === "execute");
    assert.deepEqual(call.content, [{ type: "terminal", terminalId: call.toolCallId }]);
    assert.deepEqual(call._meta.terminal_info, { terminal_id: call.toolCallId, cwd: project });
    const meta = fourth.told.filter((u) => u.toolCallId === call.toolCallId && u._meta).map((u) => u._meta);
    assert.match(meta.map((m) => m.terminal_output?.data ?? "").join(""), /one\n+two/);
    assert.equal(meta.at(-1).terminal_exit.exit_code, 3);
  },
  { fs: { readTextFile: true }, _meta: { terminal_output: true } },
  { [allowed]: "not saved\n" },
);
