// A fake Anthropic Messages API on loopback: streamed and plain answers, scripted by the test.
//
// The script is a function of a Turn (what the model was sent) that returns content blocks: say(text), call(tool,
// input), or a list of them. It reads tokens from results, like an agent. An exception fails the test.
import http from 'node:http';
import { once } from 'node:events';

import { answerLine } from './support.mjs';

export const say = (text) => ({ type: 'text', text });
export const call = (name, input = {}) => ({ type: 'tool_use', name, input });
// An answer with its own usage: {input_tokens: …} makes the client believe that its context is that full.
export const billed = (usage, ...content) => ({ content, usage });

// An API error that is not worth a retry.
export const fails = (message) => ({ fails: message });

// What the model was sent in one request.
export class Turn {
  constructor(body) {
    this.body = body;
    this.messages = body.messages ?? [];
    this.tools = (body.tools ?? []).map((tool) => tool.name);
    this.system = textOf(body.system);
    // The user's first message: distinguishes a subagent from the agent that started it.
    this.task = textOf(this.messages[0]?.content);
    const last = this.messages.at(-1)?.content;
    const results = Array.isArray(last) ? last.filter((block) => block.type === 'tool_result') : [];
    this.results = results.map((block) => ({
      id: block.tool_use_id,
      isError: block.is_error === true,
      texts: textsOf(block.content),
      text: textOf(block.content),
    }));
    this.result = this.results.at(-1);
    this.line = this.result && answerLine(this.result.texts);
    this.said = textOf(last);
    this.all = this.messages.map((message) => textOf(message.content)).join('\n');
  }

  // The latest answer of a workflow tool in the whole conversation.
  latestLine() {
    for (const message of [...this.messages].reverse()) {
      for (const block of Array.isArray(message.content) ? [...message.content].reverse() : []) {
        const line = block.type === 'tool_result' ? answerLine(textsOf(block.content)) : undefined;
        if (line) return line;
      }
    }
    return undefined;
  }
}

// The texts of a message's blocks, including tool results.
export function textsOf(content) {
  if (typeof content === 'string') return [content];
  return (content ?? []).flatMap((block) => {
    if (block.type === 'text') return [block.text];
    return block.type === 'tool_result' ? textsOf(block.content) : [];
  });
}

export function textOf(content) {
  return textsOf(content).join('\n');
}

export class ScriptedModel {
  // Listens until the test ends. `turns` records requests and answers.
  static async start(place, script) {
    const model = new ScriptedModel(place, script);
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    place.closers.push(() => model.stop());
    return model;
  }

  constructor(place, script) {
    this.place = place;
    this.script = script;
    this.turns = [];
    this.blocks = 0;
    this.server = http.createServer((request, response) => this.take(request, response));
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async take(request, response) {
    let text = '';
    for await (const data of request.setEncoding('utf8')) text += data;
    const where = new URL(request.url, this.url).pathname;
    if (request.method === 'POST' && where.endsWith('/v1/messages')) return this.answer(JSON.parse(text), response);
    if (where.endsWith('/count_tokens')) return plain(response, 200, { input_tokens: 1000 });
    return plain(response, 404, { type: 'error', error: { type: 'not_found_error', message: 'not scripted' } });
  }

  async answer(body, response) {
    const turn = new Turn(body);
    const record = { turn, content: [] };
    this.turns.push(record);
    let answer;
    try {
      answer = await this.script(turn, this.turns.length);
    } catch (error) {
      this.place.problem(error);
      answer = fails(error.message);
    }
    if (answer.fails) {
      this.place.log('transcript.txt', transcriptOf(turn, [say(`(the API fails: ${answer.fails})`)]));
      const error = { type: 'invalid_request_error', message: answer.fails };
      return plain(response, 400, { type: 'error', error });
    }
    const given = [answer.content ?? answer].flat();
    record.content = given.map((block) => (block.type === 'tool_use' ? { id: this.blockId(), ...block } : block));
    this.place.log('transcript.txt', transcriptOf(turn, record.content));
    const message = this.message(body, record.content, answer.usage);
    if (body.stream) stream(response, message);
    else plain(response, 200, message);
  }

  blockId() {
    this.blocks += 1;
    return `toolu_scripted_${this.blocks}`;
  }

  message(body, content, usage = {}) {
    return {
      id: `msg_scripted_${this.turns.length}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content,
      stop_reason: content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 100, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, ...usage,
      },
    };
  }
}

// A readable transcript, without the client's own system reminders.
function transcriptOf(turn, content) {
  const isOurs = (text) => /hook|signalbox|ct_/i.test(text);
  const reminders = /<system-reminder>[^]*?<\/system-reminder>\n*/g;
  const heard = turn.said.replace(reminders, (text) => (isOurs(text) ? text : ''));
  const said = content.map((block) => block.text ?? `${block.name} ${JSON.stringify(block.input, null, 1)}`);
  return `>>> ${heard.trim()}\n\n<<< ${said.join('\n')}\n\n`;
}

function plain(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function stream(response, message) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  message.content.forEach((block, index) => {
    const isText = block.type === 'text';
    const empty = isText ? { type: 'text', text: '' } : { ...block, input: {} };
    send('content_block_start', { index, content_block: empty });
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  });
  send('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: message.usage });
  send('message_stop', {});
  response.end();
}
