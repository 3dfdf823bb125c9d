/**
 * The bodies that cost a gateway the most CPU of all that it takes with its default sizes: long where something is
 * scanned, many where something is counted, alike where something is looked up.
 */
import { createHash } from 'node:crypto'
import { formInputs } from './forms.ts'
import {
  chat,
  completions,
  edits,
  embeddings,
  images,
  json,
  large,
  many,
  moderations,
  nested,
  responses,
  times,
  videos,
  wide,
  type WorstInput,
} from './input.ts'
import { messageInputs } from './messages.ts'
import { schemaInputs } from './schemas.ts'

const jsonPaths: readonly (readonly [path: string, fields: string])[] = [
  [chat, '"messages":[{"role":"user","content":"Hi"}]'],
  [responses, '"input":"Hi"'],
  [completions, '"prompt":"Hi"'],
  [embeddings, '"input":"Hi"'],
  [moderations, '"input":"Hi"'],
  [images, '"prompt":"a sun","size":"16x16"'],
  [edits, '"prompt":"a sun","images":[{"image_url":"data:image/png;base64,AAAA"}]'],
  ['/v1/videos/generations', '"prompt":"a sun","duration":5'],
  [videos, '"prompt":"a sun","seconds":"5"'],
]

/** Around and beside the fields of any JSON request. */
const surroundings: readonly (readonly [name: string, text: (fields: string) => string])[] = [
  ['blanks before the object', (fields) => `${' '.repeat(large)}{${fields}}`],
  ['blanks behind the object', (fields) => `{${fields}}${'\n'.repeat(large)}`],
  ['blanks between two members', (fields) => `{${fields},${'\t '.repeat(large / 2)}"x":1}`],
  ['a long text', (fields) => `{${fields},"x":"${'x'.repeat(large)}"}`],
  ['a long text below a line break', (fields) => `{\n${fields},"x":"${'x'.repeat(large)}"}`],
  ['a long text of escapes', (fields) => `{${fields},"x":"${'\\n'.repeat(large / 2)}"}`],
  ['a long text of code points', (fields) => `{${fields},"x":"${'\\u12ab'.repeat(large / 6)}"}`],
  ['a long text of emoji', (fields) => `{${fields},"x":"${'🐣'.repeat(large / 4)}"}`],
  ['a long name', (fields) => `{${fields},"${'x'.repeat(large)}":1}`],
  ['a long name of escapes', (fields) => `{${fields},"${'\\n'.repeat(large / 2)}":1}`],
  ['a long number', (fields) => `{${fields},"x":${'1'.repeat(large)}}`],
  ['very many numbers', (fields) => `{${fields},"x":${lists('1')}}`],
  ['very many long numbers', (fields) => `{${fields},"x":${lists('1.2345678901234567e-300'.padEnd(90, '1'))}}`],
  ['very many objects', (fields) => `{${fields},"x":${lists('{"a":1}')}}`],
  ['very many fields', (fields) => `{${fields},${times(wide, (at) => `"x${at}":"${'x'.repeat(1_900)}"`)}}`],
  ['very many fields of one name', (fields) => `{${fields},${times(wide, () => `"x":"${'x'.repeat(1_900)}"`)}}`],
  ['an unfinished list', (fields) => `{${fields},"x":${lists('1').slice(0, -1)}`],
]

function lists(item: string): string {
  const inner = `[${times(wide, () => item)}]`
  const count = Math.floor(Math.min(many / (wide * (item.startsWith('{') ? 2 : 1)), large / inner.length))
  return `[${times(count, () => inner)}]`
}

const others: readonly WorstInput[] = [
  json(
    responses,
    'very many items',
    () =>
      `{"input":[${times(wide, (at) => `{"role":"${at % 2 ? 'assistant' : 'user'}","content":"${'x'.repeat(1_900)}"}`)}]}`,
  ),
  json(
    responses,
    'very many references',
    () => `{"input":[${times(wide, (at) => `{"type":"item_reference","id":"item_${at}"}`)}]}`,
  ),
  json(
    responses,
    'very many calls',
    () =>
      `{"input":[${times(4_900, (at) => `{"type":"function_call","call_id":"${at}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"${at}","output":"x"}`)}]}`,
  ),
  json(
    responses,
    'very many wrong items',
    () =>
      `{"input":[${times(wide, () => '{"role":"user","content":[{"type":"input_text","text":"x"}]}')},{"role":"user","content":[1]}]}`,
  ),
  json(responses, 'one long text', () => `{"input":"${'a '.repeat(large / 2)}"}`),
  json(responses, 'long instructions', () => `{"input":"Hi","instructions":"${'a '.repeat(large / 2)}"}`),
  json(
    responses,
    'nested namespaces',
    () =>
      `{"input":"Hi","tools":[${nested(
        28,
        '{"type":"namespace","name":"n","tools":[',
        times(9_000, (at) => `{"type":"function","name":"f${at}"}`),
        ']}',
      )}]}`,
  ),
  json(completions, 'one long prompt', () => `{"prompt":"${'a '.repeat(large / 2)}"}`),
  json(completions, 'very many prompts', () => `{"prompt":[${times(120, () => `"${'a '.repeat(large / 250)}"`)}]}`),
  json(completions, 'a prompt of tokens', () => `{"prompt":[${times(wide, (at) => String(at))}]}`),
  json(
    embeddings,
    'a text that becomes longer when it is normalised',
    () => `{"input":"${'\ufdfa'.repeat(large / 3)}"}`,
  ),
  json(embeddings, 'a text of marks in the wrong order', () => `{"input":"${'\u0301\u0316'.repeat(large / 4)}"}`),
  json(embeddings, 'a text of Hangul', () => `{"input":"${'\u1100\u1161\u11a8'.repeat(large / 9)}"}`),
  json(
    embeddings,
    'one long word',
    () =>
      `{"input":"${Array.from({ length: large / 64 }, (_, at) => createHash('sha256').update(String(at)).digest('hex')).join('')}"}`,
  ),
  json(
    embeddings,
    'very many texts',
    () => `{"input":[${times(2_000, (at) => `"${`${at} `.repeat(large / 2_000 / 6)}"`)}],"dimensions":4096}`,
  ),
  json(embeddings, 'very many small texts', () => `{"input":[${times(2_000, (at) => `"${at}"`)}],"dimensions":4096}`),
  json(embeddings, 'very many tokens', () => `{"input":[${times(19, () => `[${times(wide, (at) => String(at))}]`)}]}`),
  json(moderations, 'very many words', () => `{"input":[${times(1_000, () => `"${'a '.repeat(large / 2_200)}"`)}]}`),
  json(moderations, 'very many texts', () => `{"input":[${times(wide, (at) => `"${'x'.repeat(1_900)}${at}"`)}]}`),
  json(
    moderations,
    'very many wrong parts',
    () => `{"input":[${times(wide, () => '{"type":"text","text":"x"}')},{"type":"text"}]}`,
  ),
  json(images, 'a long prompt', () => `{"prompt":"${'a '.repeat(large / 2)}","size":"16x16"}`),
  json(images, 'the largest pictures', () => '{"prompt":"a sun","size":"2048x2048","n":10}'),
  json(
    images,
    'pictures in many steps',
    () => '{"prompt":"a sun","size":"2048x2048","n":2,"stream":true,"partial_images":3}',
  ),
]

export const worstInputs: readonly WorstInput[] = [
  ...surroundings.flatMap(([name, text]) => jsonPaths.map(([path, fields]) => json(path, name, () => text(fields)))),
  ...messageInputs,
  ...schemaInputs,
  ...others,
  ...formInputs,
]
