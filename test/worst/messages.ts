/** Chats of long, many and alike messages, calls and pictures. */
import { chatWith, edits, json, large, responses, times, user, videos, wide, type WorstInput } from './input.ts'

const base64 = 'iVBORw0KGgo'.padEnd(large, 'A')

function picture(name: string, url: () => string): WorstInput[] {
  return [
    chatWith(
      `a picture as a data URL ${name}`,
      () => `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${url()}"}}]}]`,
    ),
    json(
      responses,
      `a picture as a data URL ${name}`,
      () => `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"${url()}"}]}]}`,
    ),
    json(edits, `a picture as a data URL ${name}`, () => `{"prompt":"a sun","images":[{"image_url":"${url()}"}]}`),
    json(
      videos,
      `a picture as a data URL ${name}`,
      () => `{"prompt":"a sun","input_reference":{"image_url":"${url()}"}}`,
    ),
  ]
}

export const messageInputs: readonly WorstInput[] = [
  ...picture('of plain base64', () => `data:image/png;base64,${base64}`),
  ...picture('with blanks in its base64', () => `data:image/png;base64,${'AAA '.repeat(large / 4)}`),
  ...picture('of another alphabet', () => `data:image/png;base64,${'AA-_'.repeat(large / 4)}`),
  ...picture('of percent signs', () => `data:image/png;base64,${'%41'.repeat(large / 3)}`),
  ...picture('of text', () => `data:text/plain,${'%41'.repeat(large / 3)}`),
  ...picture('with very many parameters', () => `data:image/png${';a=b'.repeat(large / 4)};base64,AAAA`),
  ...picture('of blanks alone', () => `data:image/png;base64,${' '.repeat(large)}`),
  chatWith('one long message', () => `[{"role":"user","content":"${'a '.repeat(large / 2)}"}]`),
  chatWith(
    'one long system message',
    () => `[{"role":"system","content":"${'ab '.repeat(large / 3)}"},${user.slice(1)}`,
  ),
  chatWith('one long message of marks', () => `[{"role":"user","content":"${'\u0301'.repeat(large / 2)}"}]`),
  chatWith(
    'very many messages',
    () => `[${times(wide, (at) => `{"role":"${at % 2 ? 'assistant' : 'user'}","content":"${'x'.repeat(1_900)}"}`)}]`,
  ),
  chatWith(
    'very many messages of one role',
    () => `[${times(wide, () => `{"role":"user","content":"${'x'.repeat(1_900)}"}`)}]`,
  ),
  chatWith(
    'very many parts',
    () => `[{"role":"user","content":[${times(wide, () => `{"type":"text","text":"${'x'.repeat(1_900)}"}`)}]}]`,
  ),
  chatWith(
    'very many small parts',
    () => `[${times(7, () => `{"role":"user","content":[${times(wide, () => '{"type":"text","text":"x"}')}]}`)}]`,
  ),
  chatWith(
    'very many system messages',
    () => `[${times(wide, () => `{"role":"system","content":"${'x'.repeat(1_900)}"}`)},${user.slice(1)}`,
  ),
  chatWith(
    'very many calls of one id',
    () =>
      `[{"role":"assistant","tool_calls":[${times(4_900, () => '{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}')}]},${times(4_900, () => '{"role":"tool","tool_call_id":"a","content":"x"}')}]`,
  ),
  chatWith(
    'very many calls',
    () =>
      `[{"role":"assistant","tool_calls":[${times(4_900, (at) => `{"id":"call ${at}","type":"function","function":{"name":"f${at}","arguments":"{\\"a\\":1}"}}`)}]},${times(4_900, (at) => `{"role":"tool","tool_call_id":"call ${at}","content":"x"}`)}]`,
  ),
  chatWith(
    'calls and results by turns',
    () =>
      `[${times(4_900, (at) => `{"role":"assistant","tool_calls":[{"id":"call ${at}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call ${at}","content":"x"}`)}]`,
  ),
  chatWith(
    'one call with a long id',
    () =>
      `[{"role":"assistant","tool_calls":[{"id":"${'é'.repeat(large / 6)}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"${'é'.repeat(large / 6)}","content":"x"}]`,
  ),
  chatWith(
    'one call with long arguments',
    () =>
      `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"a\\":\\"${'x'.repeat(large)}\\"}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]`,
  ),
  chatWith(
    'one call with arguments of very many parts',
    () =>
      `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"a\\":[${'1,'.repeat(large / 2)}1]}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}]`,
  ),
  chatWith(
    'one long result',
    () =>
      `[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"${'x '.repeat(large / 2)}"}]`,
  ),
  chatWith(
    'very many tools',
    () => user,
    () =>
      `,"tools":[${times(wide, (at) => `{"type":"function","function":{"name":"tool${at}","description":"${'x'.repeat(1_000)}","parameters":{"type":"object"}}}`)}]`,
  ),
  chatWith(
    'very many allowed tools',
    () => user,
    () =>
      `,"tools":[${times(wide, (at) => `{"type":"function","function":{"name":"tool${at}"}}`)}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[${times(wide, (at) => `{"type":"function","function":{"name":"tool${at}"}}`)}]}}`,
  ),
  chatWith(
    'very much logit bias',
    () => user,
    () => `,"logit_bias":{${times(wide, (at) => `"${at}":1`)}}`,
  ),
  chatWith(
    'very much metadata',
    () => user,
    () => `,"metadata":{${times(wide, (at) => `"k${at}":"${'x'.repeat(1_900)}"`)}}`,
  ),
  chatWith(
    'a long sequence to stop at',
    () => '[{"role":"user","content":"Count from 1 to 9999"}]',
    () => `,"stop":["${'9, '.repeat(large / 12)}","${'9, '.repeat(large / 12)}x","${'9, '.repeat(large / 12)}y","z"]`,
  ),
]
