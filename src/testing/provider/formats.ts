/** How a provider's answers reach clients of other wire formats than chats. */
import assert from 'node:assert/strict'
import type { ResponseObject } from '../../wire/responses.ts'
import type { Message } from '../../wire/messages.ts'
import type { Fields } from '../../wire/json.ts'
import type { Register } from './kit.ts'
import { calls, unicodeText } from './scripts.ts'

/** What a client learns from an answer. */
interface Learnt {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  /** All tokens of the prompt, and all of the answer. */
  readonly tokens: readonly [input: number, output: number]
}

interface ClientFormat {
  readonly target: string
  readonly request: object
  readonly whole: (body: never) => Learnt
  /** Collects the events of a stream to the body that they are. */
  readonly collected: (events: readonly Fields[]) => unknown
}

const formats: Readonly<Record<string, ClientFormat>> = {
  messages: {
    target: '/v1/messages',
    request: { max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello' }] },
    whole: ({ content, usage }: Message) => ({
      text: content.map((block) => (block.type === 'text' ? block['text'] : '')).join(''),
      calls: content.flatMap(({ type, ...call }) => {
        return type === 'tool_use' ? [{ name: call['name'] as string, input: call['input'] }] : []
      }),
      tokens: [
        (usage?.['input_tokens'] ?? NaN) +
          (usage?.['cache_read_input_tokens'] ?? 0) +
          (usage?.['cache_creation_input_tokens'] ?? 0),
        usage?.['output_tokens'] ?? NaN,
      ],
    }),
    collected: (events) => collectedMessage(events),
  },
  responses: {
    target: '/v1/responses',
    request: { input: 'Hello', store: false },
    whole: ({ output, usage }: ResponseObject) => ({
      text: output
        .flatMap((item) => (item.type === 'message' ? (item['content'] as Fields[]) : []))
        .map((part) => String(part['text']))
        .join(''),
      calls: output.flatMap((item) => {
        if (item.type !== 'function_call') return []
        return [{ name: item['name'] as string, input: JSON.parse(item['arguments'] as string) as unknown }]
      }),
      tokens: [Number(usage?.input_tokens), Number(usage?.output_tokens)],
    }),
    collected: collectedResponse,
  },
}

export function checkFormats(check: Register): void {
  for (const [name, { target, request, whole, collected }] of Object.entries(formats)) {
    check.both(`text, parallel tool calls and usage reach a client of ${name}`, async (kit, stream) => {
      const usage = { input: 100, cached: 40, output: 30, reasoning: 20 }
      const { status, text } = await kit.post(target, request, { text: unicodeText, calls, usage }, stream)
      assert.equal(status, 200, text)
      const body = stream ? collected(eventsIn(text)) : (JSON.parse(text) as unknown)
      assert.deepEqual(whole(body as never), {
        text: unicodeText,
        calls: calls.map((call) => ({ name: call.name, input: call.input })),
        tokens: [100, 30],
      })
    })
  }
}

function eventsIn(text: string): Fields[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Fields)
}

/** The message of a stream. Fails unless its blocks come one after the other. */
function collectedMessage(events: readonly Fields[]): unknown {
  const content: Record<string, unknown>[] = []
  let usage: Fields = {}
  let isOpen = false
  let input = ''
  for (const event of events) {
    const delta = (event['delta'] ?? {}) as Fields
    switch (event['type']) {
      case 'message_start':
        usage = (event['message'] as { usage: Fields }).usage
        break
      case 'content_block_start':
        assert.ok(!isOpen && event['index'] === content.length, 'blocks come one after the other')
        isOpen = true
        input = ''
        content.push({ ...(event['content_block'] as Fields) })
        break
      case 'content_block_delta': {
        const block = content.at(-1) ?? {}
        if (delta['type'] === 'text_delta') block['text'] = `${String(block['text'])}${String(delta['text'])}`
        if (delta['type'] === 'input_json_delta') input += String(delta['partial_json'])
        break
      }
      case 'content_block_stop':
        isOpen = false
        if (input !== '') (content.at(-1) ?? {})['input'] = JSON.parse(input)
        break
      case 'message_delta':
        usage = { ...usage, ...(event['usage'] as Fields) }
    }
  }
  assert.equal(events.at(-1)?.['type'], 'message_stop', 'a stream ends with message_stop')
  return { content, usage }
}

/** The response of the last event. Fails unless the deltas are its text. */
function collectedResponse(events: readonly Fields[]): unknown {
  const last = events.at(-1)
  assert.equal(last?.['type'], 'response.completed', 'a stream ends with response.completed')
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => String(delta))
  const whole = formats['responses']?.whole(last?.['response'] as never)
  assert.equal(deltas.join(''), whole?.text, 'the deltas are the text')
  return last?.['response']
}
