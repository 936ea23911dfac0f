// Claude Code hosted by an application: stream-json both ways; the test answers permissions and elicitations.
import assert from 'node:assert/strict';
import path from 'node:path';

import { call, textOf } from './anthropic.mjs';
import { clients, parsed } from './support.mjs';

export const tool = (name) => `mcp__signalbox__${name}`;
export const startOf = (place, workflow, goal) =>
  call(tool('start_workflow'), { workflowId: workflow.id, workspacePath: place.workspace, goal });
export const deliver = (input) => call(tool('continue_workflow'), input);
export const overStdio = (place) => place.entry();
// Use the server from the user's and the project's configuration.
export const installed = Symbol('installed');
export const overHttp = (place, server) => place.entry(server);

export class ClaudeCode {
  // `server` is the entry of signalbox in the MCP configuration. `elicit(request)` returns {action, content};
  // `permit(request)` returns {behavior, …} and allows by default.
  constructor(place, model, { server, elicit, permit, args = [], env = {} } = {}) {
    this.elicit = elicit ?? (() => ({ action: 'cancel' }));
    this.permit = permit ?? ((request) => ({ behavior: 'allow', updatedInput: request.input }));
    this.elicitations = [];
    this.permissions = [];
    this.messages = [];
    this.next = 0;
    this.process = place.start(
      clients.claude,
      [
        '-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose',
        '--permission-prompt-tool', 'stdio', '--model', 'claude-sonnet-4-5',
        ...(server === installed ? [] : onlyServer(place, server)), ...args,
      ],
      { name: 'claude', env: { ...offline(model), ...env } },
    );
    this.listening = this.listen(place);
    this.process.send({ type: 'control_request', request_id: 'start', request: { subtype: 'initialize', hooks: {} } });
  }

  async listen(place) {
    for (;;) {
      const read = (line) => parsed(line) ?? { type: 'noise', line };
      const from = this.messages.length;
      const message = await this.process.line(read, 'its next message', { from, timeout: 3600_000 }).catch(() => null);
      if (!message) return;
      this.messages.push(message);
      if (message.type !== 'control_request') continue;
      try {
        this.reply(message.request_id, await this.decide(message.request));
      } catch (error) {
        place.problem(error);
      }
    }
  }

  async decide(request) {
    if (request.subtype === 'elicitation') {
      this.elicitations.push(request);
      return this.elicit(request);
    }
    if (request.subtype !== 'can_use_tool') return {};
    this.permissions.push(request);
    return this.permit(request);
  }

  reply(id, response) {
    this.process.send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  }

  // Sends a user message, waits for the end of the agent's turn and returns the result message.
  async ask(text, timeout) {
    this.process.send({
      type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '',
    });
    return this.result(timeout);
  }

  async result(timeout) {
    const isResult = (line, index) => parsed(line)?.type === 'result' && { index };
    const found = await this.process.line(isResult, 'the end of its turn', { from: this.next, timeout });
    this.next = found.index + 1;
    return JSON.parse(this.process.lines[found.index]);
  }

  // Ends it like an application, by closing its input.
  async quit() {
    this.process.closeInput();
    const status = await this.process.end();
    await this.listening;
    return status;
  }

  // The init message of its first turn: servers, tools, commands.
  facts() {
    return this.messages.find((message) => message.type === 'system' && message.subtype === 'init');
  }

  // All tool results sent to the model, as {name, isError, text}.
  toolResults() {
    const names = new Map();
    const results = [];
    for (const message of this.messages) {
      for (const block of Array.isArray(message.message?.content) ? message.message.content : []) {
        if (block.type === 'tool_use') names.set(block.id, block.name);
        if (block.type !== 'tool_result') continue;
        results.push({
          name: names.get(block.tool_use_id), isError: block.is_error === true, text: textOf(block.content),
        });
      }
    }
    return results;
  }
}

// Fills in a form: the only choice field gets the option with that label, which follows its number or letter.
export function choose(schema, label) {
  const [[field, { oneOf }]] = Object.entries(schema.properties).filter(([, property]) => property.oneOf);
  return { [field]: oneOf.find((option) => option.title.replace(/^\w+\) /, '') === label).const };
}

// One turn of a fresh Claude Code. Fails the test if it ends with an error.
export async function runClaude(place, model, prompt, options = {}) {
  const claude = new ClaudeCode(place, model, options);
  claude.last = await claude.ask(prompt);
  assert.equal(claude.last.subtype, 'success', JSON.stringify(claude.last));
  assert.equal(await claude.quit(), 0);
  return claude;
}

function onlyServer(place, server) {
  const config = place.write(path.join(place.dir, 'mcp.json'), { mcpServers: server ? { signalbox: server } : {} });
  return ['--mcp-config', config, '--strict-mcp-config'];
}

function offline(model) {
  return {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'not-a-key',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}
