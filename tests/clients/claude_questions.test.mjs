// Claude Code with our hooks: questions the agent asks in its dialog (AskUserQuestion) and at the end of its turn.
import assert from 'node:assert/strict';

import { ScriptedModel, call, say } from './anthropic.mjs';
import { ClaudeCode, runClaude } from './claude.mjs';
import { scenario } from './support.mjs';

const question = {
  decision: 'environment',
  instruction: 'Which environment should get it?',
  select: 'one',
  options: [
    { id: 'staging', label: 'Staging' },
    { id: 'production', label: 'Production' },
    { id: 'none', label: 'None' },
  ],
};
const render = (host) =>
  call('Bash', { command: `signalbox render --def question.json --host ${host}`, description: 'Plan the question' });
// The output of a command, extracted from what Claude Code shows.
const printed = (turn) => turn.result.text.split('\n\n<system-reminder>')[0].trimEnd();

scenario('a planned question is answered in the dialog and recorded', async (place) => {
  place.write('question.json', question);
  place.signalbox('hook', 'install', '--project');
  let planned;
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return render('ask_user_question');
    if (n === 2) {
      planned = JSON.parse(printed(turn));
      const shorter = structuredClone(planned);
      shorter.questions[0].options.pop();
      return call('AskUserQuestion', shorter);
    }
    return n === 3 ? call('AskUserQuestion', planned) : say('It goes to production.');
  });
  const permit = (request) => {
    if (request.tool_name !== 'AskUserQuestion') return { behavior: 'allow', updatedInput: request.input };
    const answers = { [request.input.questions[0].question]: 'Production' };
    return { behavior: 'allow', updatedInput: { ...request.input, answers } };
  };
  const claude = await runClaude(place, model, 'Ask where it should go.', { permit });
  // The person saw only the complete question: the one with a dropped option was denied.
  const asked = claude.permissions.filter((request) => request.tool_name === 'AskUserQuestion');
  assert.deepEqual(asked.map((request) => request.input.questions[0].options.map((option) => option.label)),
    [['Staging', 'Production', 'None']]);
  const [, refused, answered] = claude.toolResults();
  assert.ok(refused.isError);
  assert.match(refused.text, /None/);
  assert.match(answered.text, /Production/);
  const [decision, ...others] = place.json('inbox', 'list', '--all').decisions;
  assert.deepEqual(others, []);
  assert.equal(decision.outcome, 'answered');
  assert.equal(decision.resolved_by, 'human');
  assert.deepEqual(decision.options, ['production']);
  assert.match(decision.channel, /hook|claude/);
});

scenario('a question dismissed in the dialog stays open', async (place) => {
  place.write('question.json', question);
  place.signalbox('hook', 'install', '--project');
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return render('ask_user_question');
    return n === 2 ? call('AskUserQuestion', JSON.parse(printed(turn))) : say('No one has answered.');
  });
  const permit = (request) => (request.tool_name === 'AskUserQuestion'
    ? { behavior: 'deny', message: 'The user does not want to answer.' }
    : { behavior: 'allow', updatedInput: request.input });
  await runClaude(place, model, 'Ask where it should go.', { permit });
  const [decision] = place.json('inbox', 'list').decisions;
  assert.equal(decision.state, 'open');
});

scenario('a soft offer at the end of the turn is rejected, a well-formed block accepted', async (place) => {
  place.write('question.json', question);
  place.signalbox('hook', 'install', '--project', '--stop');
  let block;
  const model = await ScriptedModel.start(place, (turn, n) => {
    if (n === 1) return render('text');
    if (n === 2) {
      block = printed(turn);
      return say('The tests pass. Let me know if you want me to deploy.');
    }
    return say(block);
  });
  const claude = await runClaude(place, model, 'Run the tests, then ask where it should go.');
  assert.equal(model.turns.length, 3);
  assert.match(model.turns[2].turn.said, /INT020/);
  assert.match(block, /^Which environment should get it\?\n\n1\) Staging\n2\) Production\n3\) None$/);
  assert.equal(claude.last.result, block);
});

scenario('a soft offer is rejected in a later turn too, ordinary text is not', async (place) => {
  place.signalbox('hook', 'install', '--project', '--stop');
  const said = ['All 214 tests pass.', 'Done. Would you like me to deploy it?', 'Done. It is deployed.'];
  const model = await ScriptedModel.start(place, (turn, n) => say(said[n - 1]));
  const claude = new ClaudeCode(place, model);
  assert.equal((await claude.ask('Run the tests.')).result, said[0]);
  assert.equal((await claude.ask('Deploy it.')).result, said[2]);
  assert.equal(await claude.quit(), 0);
});
