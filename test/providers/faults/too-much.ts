/** Responses in OpenAI's format, streamed and not, that exceed the bounds on their structure. */
import { whole as goodAnswer } from './healthy.ts'

export interface Excess {
  readonly name: string
  readonly type: 'application/json' | 'text/event-stream'
  readonly body: string
}

const head = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_700_000_000, model: 'm' }

const frame = (...choices: object[]) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`

const inOne = (name: string, body: string): Excess => ({ name, type: 'application/json', body })
const inEvents = (name: string, body: string): Excess => ({ name, type: 'text/event-stream', body })

const message = (said: object) =>
  JSON.stringify({ ...head, choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: 'stop' }] })

const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    return { index, id: `call_${index}`, type: 'function', function: { name: 'f', arguments: '{}' } }
  })

const deep = (levels: number) => `${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`
const beside = (name: string, value: string) => goodAnswer.replace('{', `{"${name}":${value},`)

/** More tool calls, values, levels and lines than any model produces. */
export const tooMuch: readonly Excess[] = [
  inOne('20,000 tool calls', message({ content: null, tool_calls: calls(20_000) })),
  inEvents('20,000 tool calls in one event', frame({ index: 0, delta: { tool_calls: calls(20_000) } })),
  inOne('20,000 choices', JSON.stringify({ ...head, choices: Array.from({ length: 20_000 }, () => ({})) })),
  inEvents(
    '20,000 choices in as many events',
    Array.from({ length: 20_000 }, (_, index) => frame({ index, delta: {} })).join(''),
  ),
  inOne('a value nested 10,000 levels deep', beside('x', deep(10_000))),
  inEvents('an event nested 10,000 levels deep', `data: ${beside('x', deep(10_000))}\n\n`),
  inOne('a million members', beside('x', `[${'1,'.repeat(1_100_000)}1]`)),
  inOne('300,000 objects', beside('x', `[${'{},'.repeat(300_000)}{}]`)),
  inOne(
    '20,000 members in one object',
    beside('x', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join(',')}}`),
  ),
  inEvents('an event of 200,000 lines', `${'data: x\n'.repeat(200_000)}\n`),
  inEvents('an event of 300,000 empty objects', `data: {"choices":[${'{},'.repeat(300_000)}{}]}\n\n`),
]
