// A fake OpenAI Responses API on loopback, streamed, scripted by the test.
//
// The script is a function of an Exchange (what the model was sent) that returns {text} or {call, arguments}. It reads
// tokens from results, like an agent. An exception fails the test.
import { once } from 'node:events';
import http from 'node:http';

import { answerLine, parsed } from './support.mjs';

// What the model was sent in one request.
export class Exchange {
  constructor(body) {
    this.body = body;
    const outputs = (body.input ?? []).filter((item) => item.type === 'function_call_output');
    const last = body.input?.at(-1);
    this.result = last?.type === 'function_call_output' ? textsOf(last.output) : undefined;
    this.line = this.result && answerLine(this.result);
    // The latest answer of a workflow tool in the whole conversation.
    this.latest = outputs.map((item) => answerLine(textsOf(item.output))).filter(Boolean).at(-1);
  }
}

// Results of MCP tools arrive as content, as text that contains it, or as JSON.
function textsOf(output) {
  const value = typeof output === 'string' ? parsed(output.replace(/^[\s\S]*?(?=[[{])/, '')) ?? output : output;
  if (typeof value === 'string') return [value];
  const content = Array.isArray(value) ? value : value.content;
  if (!Array.isArray(content)) return [typeof output === 'string' ? output : JSON.stringify(output)];
  return content.map((block) => block.text ?? '');
}

export class ScriptedResponses {
  static async start(place, script) {
    const model = new ScriptedResponses(place, script);
    model.server.listen(0, '127.0.0.1');
    await once(model.server, 'listening');
    model.url = `http://127.0.0.1:${model.server.address().port}/v1`;
    place.closers.push(() => {
      model.server.closeAllConnections();
      model.server.close();
    });
    return model;
  }

  constructor(place, script) {
    this.place = place;
    this.script = script;
    this.items = 0;
    this.server = http.createServer((request, response) => this.take(request, response));
  }

  async take(request, response) {
    let text = '';
    for await (const data of request.setEncoding('utf8')) text += data;
    if (request.method === 'POST' && request.url.endsWith('/responses')) return this.answer(JSON.parse(text), response);
    response.writeHead(request.url.includes('/models') ? 200 : 404, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ object: 'list', data: [], models: [] }));
  }

  async answer(body, response) {
    let answer;
    try {
      answer = await this.script(new Exchange(body));
    } catch (error) {
      this.place.problem(error);
      response.writeHead(400, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: error.message } }));
    }
    this.items += 1;
    const item = answer.call
      ? {
          type: 'function_call', id: `fc_${this.items}`, call_id: `call_${this.items}`, status: 'completed',
          name: answer.call, namespace: 'mcp__signalbox', arguments: JSON.stringify(answer.arguments),
        }
      : {
          type: 'message', id: `msg_${this.items}`, role: 'assistant', status: 'completed',
          content: [{ type: 'output_text', text: answer.text, annotations: [] }],
        };
    this.place.log('model.jsonl', `${JSON.stringify({ asked: body.input?.at(-1), answered: item })}\n`);
    return stream(response, body.model, item);
  }
}

function stream(response, model, item) {
  const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
  const whole = { id: `resp_${item.id}`, object: 'response', created_at: 1, status: 'completed', model, usage };
  let number = 0;
  const send = (type, data) => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...data })}\n\n`);
    number += 1;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send('response.created', { response: { ...whole, status: 'in_progress', output: [] } });
  send('response.output_item.added', { output_index: 0, item: { ...item, status: 'in_progress' } });
  send('response.output_item.done', { output_index: 0, item });
  send('response.completed', { response: { ...whole, output: [item] } });
  response.end();
}
