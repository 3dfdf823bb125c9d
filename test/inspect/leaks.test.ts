/** Values planted anywhere in requests of each wire format reach a vendor of none. */
import { mask, type InspectedCall, type Inspector } from 'modelhatch'
import { expect, test } from 'vitest'
import { mapStrings } from '../../src/inspect/strings.ts'
import { everything } from '../formats/chat/traits.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import type { Format } from '../../src/formats/format.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import { responses } from '../../src/formats/responses/responses.ts'
import { long } from '../long.ts'
import { seeded } from '../../src/testing/random.ts'
import { plantedValue } from './planted.ts'

const call: InspectedCall = { id: 'req_1', endpoint: 'e', model: 'm', caller: { account: 'a', group: 'g' } }

/** How many values are planted. */
const planted = long ? 100_000 : 4_000

type Text = () => string

const schema = (text: Text) => ({
  type: 'object',
  description: text(),
  properties: { to: { type: 'string', description: text(), enum: [text(), 'x'] } },
})

/** A request of each wire format with texts wherever it has some. `json`: JSON text with them. */
const requests: Readonly<Record<string, (text: Text, json: Text) => object>> = {
  chat: (text, json) => ({
    model: 'm',
    messages: [
      { role: 'system', content: text() },
      {
        role: 'user',
        content: [
          { type: 'text', text: text() },
          { type: 'text', text: text() },
        ],
      },
      {
        role: 'assistant',
        content: text(),
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'send', arguments: json() } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: json() },
      { role: 'user', content: text() },
    ],
    tools: [{ type: 'function', function: { name: 'send', description: text(), parameters: schema(text) } }],
    stop: [text()],
    user: text(),
    metadata: { note: text() },
  }),
  responses: (text, json) => ({
    model: 'm',
    instructions: text(),
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: text() }] },
      { type: 'function_call', call_id: 'call_1', name: 'send', arguments: json() },
      { type: 'function_call_output', call_id: 'call_1', output: json() },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: text() }] },
      { type: 'message', role: 'user', content: text() },
    ],
    tools: [{ type: 'function', name: 'send', description: text(), parameters: schema(text), strict: false }],
  }),
  messages: (text, json) => ({
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: text() }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'document', title: text(), source: { type: 'text', media_type: 'text/plain', data: text() } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'send', input: JSON.parse(json()) as object }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: json() }] }],
      },
    ],
    tools: [{ name: 'send', description: text(), input_schema: schema(text) }],
  }),
  gemini: (text, json) => ({
    systemInstruction: { parts: [{ text: text() }] },
    contents: [
      { role: 'user', parts: [{ text: text() }, { text: text() }] },
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'send', args: JSON.parse(json()) as object } }] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'send', response: { output: json() } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'send', description: text(), parametersJsonSchema: schema(text) }] }],
  }),
}

// oxlint-disable-next-line typescript/no-explicit-any -- each format has its own traits
const formats: Readonly<Record<string, Format<any>>> = { chat, responses, messages, gemini }
const traits: Readonly<Record<string, object>> = { chat: everything }

const before = ['', ' ', '(', '"', '\n', ': ', '=', '<', 'no. ', '–', ', ', '{"a":"', 'x: ']
const after = ['', ' ', ')', '"', '\n', '. Thanks', ', ', '>', '; ', '!', ' 12 ', '"}']

test(`none of ${planted} values reaches a vendor, and all come back`, async () => {
  const random = seeded(32)
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] as string
  let count = 0
  while (count < planted) {
    for (const [client, make] of Object.entries(requests)) {
      const values: string[] = []
      const text = () => {
        const value = plantedValue(random)
        values.push(value)
        return `${pick(before)}${value}${pick(after)}`
      }
      // Some encoders escape what they need not.
      const json = () => {
        const written = JSON.stringify({ to: text(), list: [text(), 1.5, { deep: text() }] })
        return random() < 0.3 ? written.replaceAll('@', '\\u0040').replaceAll('-', '\\u002d') : written
      }
      const body = make(text, json)
      const made = mask({ key: 'a secret' })
      const inspector = (typeof made === 'function' ? made(call) : made) as Inspector
      const conversation = (formats[client] as (typeof formats)[string]).readRequest(body as never)
      const verdict = await inspector.request?.(conversation, call)
      if (!verdict || !('conversation' in verdict)) throw new Error('nothing was masked')
      for (const [vendor, format] of Object.entries(formats)) {
        const target = { model: 'm', maker: 'x', traits: traits[vendor] ?? {}, max: 100, omit() {} }
        const said = format.prepare?.(verdict.conversation, target).conversation ?? verdict.conversation
        const sent = JSON.stringify(mapStrings(format.writeRequest(said, target), decoded, new Set()))
        for (const value of values) {
          const plain = JSON.stringify(value).slice(1, -1)
          if (sent.includes(plain)) throw new Error(`${client} → ${vendor}: ${value} in ${around(sent, plain)}`)
        }
      }
      const texts: string[] = []
      mapStrings(verdict.conversation, (each) => (texts.push(each), each))
      const window = { kind: 'text', ended: true, isJson: false, choice: 0, block: 0 } as const
      for (const each of texts) {
        const seen = (await inspector.answer?.({ ...window, text: each }, call)) || {}
        let back = each
        for (const { start, end, text: shown } of (seen.edits ?? []).toReversed())
          back = back.slice(0, start) + shown + back.slice(end)
        expect(back).not.toMatch(/(?:EMAIL|CARD|IBAN|PHONE|KEY)_[A-Z]{8}/)
      }
      count += values.length
    }
  }
})

/** What is escaped in JSON within a text can be read all the same. */
function decoded(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}

function around(text: string, part: string): string {
  const at = text.indexOf(part)
  return text.slice(Math.max(0, at - 60), at + part.length + 60)
}
