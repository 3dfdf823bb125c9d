/**
 * Rebuilds the guide's table of what each wire format can say, with the code that decides which deployments serve a request.
 * With `MODELHATCH_UPDATE=1` it writes the guide instead of comparing it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Conversation, Settings } from '../../src/conversation/conversation.ts'
import { GatewayError } from '../../src/errors.ts'
import { chat } from '../../src/formats/chat/chat.ts'
import type { ConversationField, Format } from '../../src/formats/format.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import { responses } from '../../src/formats/responses/responses.ts'

const readme = new URL('../../src/providers/README.md', import.meta.url)

// oxlint-disable-next-line typescript/no-explicit-any -- each has its own traits
const formats: readonly Format<any>[] = [chat, responses, messages, gemini]

const tool = { kind: 'function', name: 'look' } as const
const setting = (settings: Settings): Partial<Conversation> => ({ settings })

/** A conversation with each of the fields. */
const saying: Readonly<Record<Exclude<ConversationField, 'turns'>, Partial<Conversation>>> = {
  tools: { tools: [tool] },
  toolChoice: { tools: [tool], toolChoice: 'any' },
  parallel: { tools: [tool], parallel: false },
  output: { output: { kind: 'schema', schema: { type: 'object', properties: {}, additionalProperties: false } } },
  reasoning: setting({ reasoning: { effort: 'high' } }),
  max: setting({ max: 100 }),
  stops: setting({ stops: ['END'] }),
  temperature: setting({ temperature: 0.5 }),
  topP: setting({ topP: 0.5 }),
  topK: setting({ topK: 5 }),
  seed: setting({ seed: 5 }),
  choices: setting({ choices: 2 }),
  frequencyPenalty: setting({ frequencyPenalty: 0.5 }),
  presencePenalty: setting({ presencePenalty: 0.5 }),
  logprobs: setting({ logprobs: 2 }),
  verbosity: setting({ verbosity: 'low' }),
  modalities: setting({ modalities: ['text', 'image'] }),
  tier: setting({ tier: 'priority' }),
  user: setting({ user: 'ada' }),
}

/** The name of the field, or what becomes of it at a vendor that is asked in this format. */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
function cellOf(field: ConversationField, more: Partial<Conversation>, format: Format<any>): string {
  const omitted: string[] = []
  const to = { model: 'm', maker: 'vendor', traits: {}, max: 1_000, omit: (place: string) => void omitted.push(place) }
  const write = (part: Partial<Conversation>) => {
    const asked: Conversation = { ...base, ...part }
    return JSON.stringify(format.writeRequest(format.prepare?.(asked, to).conversation ?? asked, to))
  }
  const names = format.fieldNames[field]?.slice(0, 1).map((name) => `\`${name}\``) ?? []
  try {
    const written = write(more)
    if (omitted.length > 0) return [...names, 'reported'].join(', ')
    // What is not in the request, the gateway does itself, unless it is for the vendor alone.
    return written === write({}) ? 'by the gateway' : (names[0] ?? 'emulated')
  } catch (thrown) {
    expect(GatewayError.is(thrown) && thrown.status).toBe(400)
    return 'refused'
  }
}

const base: Conversation = {
  turns: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hi' }] }],
  tools: [],
  settings: {},
}

test('the table in the guide is what the formats say', () => {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rows = Object.entries(saying).map(([field, more]) =>
    line([field, ...formats.map((format) => cellOf(field as ConversationField, more, format))]),
  )
  const head = [line(['', ...formats.map(({ name }) => name)]), line(['---', ...formats.map(() => '---')])]
  const table = [...head, ...rows].join('\n')
  const text = readFileSync(readme, 'utf8')
  const [before = '', rest = ''] = text.split('<!-- formats -->\n')
  const whole = `${before}<!-- formats -->\n${table}\n${rest.slice(rest.indexOf('<!-- /formats -->'))}`
  if (process.env['MODELHATCH_UPDATE']) writeFileSync(readme, whole)
  else expect(text).toBe(whole)
})
