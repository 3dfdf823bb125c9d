/** Rules for every stream of a response: OpenAI's document, and the order of events. */
import assert from 'node:assert/strict'
import type { ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { faults } from '../../openapi.ts'
import { hasShared, sharedJson } from '../../shared.ts'

/** Fields that Open Responses requires in addition to OpenAI's document. */
const required = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'incomplete_details',
  'model',
  'previous_response_id',
  'instructions',
  'output',
  'error',
  'tools',
  'tool_choice',
  'truncation',
  'parallel_tool_calls',
  'text',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'temperature',
  'reasoning',
  'usage',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'background',
  'service_tier',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
]

interface Schemas {
  readonly components: {
    readonly schemas: Record<string, { anyOf?: { $ref: string }[]; properties?: { type?: { enum?: string[] } } }>
  }
}

let names: Map<string, string> | undefined

/** The schema name for an event type. */
function schemaOf(type: string): string {
  if (names === undefined) {
    const { schemas } = (sharedJson('openai/openapi.json') as Schemas).components
    const events = (schemas['ResponseStreamEvent']?.anyOf ?? []).map(({ $ref }) => $ref.split('/').at(-1) as string)
    names = new Map(events.map((name) => [schemas[name]?.properties?.type?.enum?.[0] ?? '', name]))
  }
  const name = names.get(type)
  assert.ok(name !== undefined, `"${type}" is an event that OpenAI's document knows`)
  return name
}

/** The faults of a response. `usage: null` before the end is allowed, because OpenAI sends it. */
export function responseFaults(response: ResponseObject): string[] {
  const missing = required.filter((name) => !(name in response)).map((name) => `${name} is missing`)
  const { usage, ...rest } = response
  return hasShared ? [...missing, ...faults('Response', usage === null ? rest : response)] : missing
}

function eventFaults(event: ResponseEvent): string[] {
  const { response } = event
  const own = response === undefined ? [] : responseFaults(response)
  if (!hasShared) return own
  const checked = response?.usage === null ? { ...event, response: { ...response, usage: undefined } } : event
  return [...own, ...faults(schemaOf(event.type), JSON.parse(JSON.stringify(checked)))]
}

/** The events in the text of a stream; throws if the framing is invalid. */
export function eventsOf(text: string): ResponseEvent[] {
  const frames = text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'))
  assert.equal(frames.pop(), 'data: [DONE]', 'the last frame')
  return frames.map((frame) => {
    const [name = '', data = '', ...more] = frame.split('\n')
    assert.deepEqual(more, [], 'one event line and one data line')
    const event = JSON.parse(data.slice('data: '.length)) as ResponseEvent
    assert.equal(name, `event: ${event.type}`, 'the name of the frame is the type of the event')
    return event
  })
}

const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** The response in the last event. Throws unless the events are a complete response in order. */
export function requireGood(events: readonly ResponseEvent[]): ResponseObject {
  assert.deepEqual(events.flatMap(eventFaults), [])
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
    'sequence numbers from 0 without gaps',
  )
  const last = events.at(-1)
  assert.equal(events.filter(({ type }) => terminal.has(type)).length, 1, 'one end')
  assert.ok(last?.response !== undefined && terminal.has(last.type), 'the end is the last event')
  const ids = new Set(events.flatMap(({ response }) => (response === undefined ? [] : [response.id])))
  assert.equal(ids.size, 1, 'one id in all events')
  if (last.type === 'response.failed') return last.response

  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ['response.created', 'response.in_progress'],
  )
  assert.equal(last.type, `response.${last.response.status}`)
  requireItems(events, last.response)
  return last.response
}

/** Items are in order; each is closed before the next is opened; the last event contains all of them. */
function requireItems(events: readonly ResponseEvent[], response: ResponseObject): void {
  const done: unknown[] = []
  let open: { id: string; index: number | undefined; part?: string } | undefined
  for (const event of events) {
    const { type, item, output_index: index, item_id: itemId } = event
    if (type === 'response.output_item.added') {
      assert.equal(open, undefined, 'the item before is closed')
      assert.equal(index, done.length)
      open = { id: item?.id as string, index }
    } else if (type === 'response.output_item.done') {
      assert.deepEqual([item?.id, index, open?.part], [open?.id, open?.index, undefined])
      done.push(item)
      open = undefined
    } else if (itemId !== undefined) {
      assert.deepEqual([itemId, index], [open?.id, open?.index], `${type} is of the open item`)
      if (type.endsWith('part.added')) {
        assert.equal(open?.part, undefined, 'the part before is closed')
        if (open) open.part = type
      }
      if (type.endsWith('part.done')) delete open?.part
    }
  }
  assert.equal(open, undefined, 'every item is closed')
  assert.deepEqual(response.output, done)
  assert.equal(new Set(response.output.map(({ id }) => id)).size, done.length, 'each item has an id of its own')
}

/** The concatenated deltas of one kind. */
export function joined(events: readonly ResponseEvent[], type: string): string {
  return events.map((event) => (event.type === type ? (event['delta'] as string) : '')).join('')
}
