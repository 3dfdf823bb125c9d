/** The order of events in a streamed message, after Anthropic's documentation. */
import assert from 'node:assert/strict'

type Fields = Readonly<Record<string, unknown>>

export interface Event extends Fields {
  readonly type: string
}

/** A streamed message, put together as clients do. */
export interface Streamed {
  readonly events: readonly Event[]
  readonly id: string
  readonly model: string
  readonly content: readonly Fields[]
  readonly stopReason: string | null
  readonly stopSequence: string | null
  /** The usage of the first event. */
  readonly firstUsage: Fields
  /** The usage of the last event that has one, over that of the first. */
  readonly usage: Fields
  /** The error that ended the stream. */
  readonly error?: Fields
}

/** The events in the text of a stream. Throws if the framing is invalid. */
export function eventsIn(text: string): Event[] {
  const frames = text.split('\n\n')
  assert.equal(frames.pop(), '', 'the stream ends with a complete frame')
  return frames
    .filter((frame) => !frame.startsWith(':'))
    .map((frame) => {
      const [name = '', data = '', ...more] = frame.split('\n')
      assert.deepEqual(more, [], `one event line and one data line: ${frame}`)
      const event = JSON.parse(data.slice('data: '.length)) as Event
      assert.equal(name, `event: ${event.type}`, 'the name of the frame is the type of the event')
      return event
    })
}

const deltas: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'tool_use',
  thinking_delta: 'thinking',
  signature_delta: 'thinking',
  citations_delta: 'text',
}

/**
 * Reads a stream as its text. Throws unless the events are in order and complete: the message starts; blocks follow one
 * after the other; one `message_delta` and `message_stop` end it, or an `error`. `ping` may occur anywhere.
 */
export function requireOrder(text: string): Streamed {
  const events = eventsIn(text)
  const rest = events.filter(({ type }) => type !== 'ping')
  const [start] = rest
  if (start?.type === 'error') return failed(events, rest)
  assert.equal(start?.type, 'message_start')
  const message = start['message'] as Fields
  assert.deepEqual([message['type'], message['role'], message['content']], ['message', 'assistant', []])
  assert.deepEqual([message['stop_reason'], message['stop_sequence']], [null, null])
  assert.match(String(message['id']), /^msg_\w+$/)
  const firstUsage = message['usage'] as Fields
  assert.ok(Number(firstUsage['input_tokens']) > 0, 'the first event has a count of input tokens')

  const content: Record<string, unknown>[] = []
  let open: Record<string, unknown> | undefined
  let input = ''
  let end: Fields | undefined
  let stopped = false
  for (const event of rest.slice(1)) {
    assert.ok(!stopped, `nothing follows message_stop: ${event.type}`)
    if (event.type === 'error') return failed(events, rest)
    switch (event.type) {
      case 'content_block_start':
        assert.equal(open, undefined, 'the block before is closed')
        assert.equal(end, undefined, 'no block follows message_delta')
        assert.equal(event['index'], content.length, 'indexes count from 0 without gaps')
        open = { ...(event['content_block'] as Fields) }
        requireEmpty(open)
        input = ''
        content.push(open)
        break
      case 'content_block_delta': {
        const delta = event['delta'] as Fields
        assert.equal(event['index'], content.length - 1, 'a delta is of the open block')
        assert.equal(open?.['type'], deltas[delta['type'] as string], `the block of a ${String(delta['type'])}`)
        if (open === undefined) break
        assert.equal(open['signature'] || '', '', 'nothing follows a signature')
        if (delta['type'] === 'text_delta') open['text'] = `${String(open['text'])}${String(delta['text'])}`
        else if (delta['type'] === 'thinking_delta')
          open['thinking'] = `${String(open['thinking'])}${String(delta['thinking'])}`
        else if (delta['type'] === 'signature_delta') open['signature'] = delta['signature']
        else if (delta['type'] === 'citations_delta')
          open['citations'] = [...((open['citations'] as unknown[] | null) ?? []), delta['citation']]
        else input += String(delta['partial_json'])
        break
      }
      case 'content_block_stop':
        assert.equal(event['index'], content.length - 1, 'the open block is closed')
        assert.ok(open !== undefined, 'a block is open')
        if (open['type'] === 'tool_use') open['partial'] = input
        requireWhole(open)
        open = undefined
        break
      case 'message_delta':
        assert.equal(open, undefined, 'the last block is closed')
        assert.equal(end, undefined, 'there is one message_delta')
        end = event
        break
      case 'message_stop':
        assert.ok(end !== undefined, 'message_delta comes before message_stop')
        stopped = true
        break
      default:
        assert.fail(`unknown event ${event.type}`)
    }
  }
  assert.ok(stopped, 'message_stop is the last event')
  const { stop_reason: stopReason, stop_sequence: stopSequence } = (end as Fields)['delta'] as Record<
    string,
    string | null
  >
  for (const block of content) {
    if (block['type'] !== 'tool_use') continue
    const { partial, ...call } = block
    assert.deepEqual(call['input'], {}, 'a call starts without input')
    block['input'] = stopReason === 'tool_use' ? JSON.parse(String(partial)) : tolerant(String(partial))
    delete block['partial']
  }
  return {
    events,
    id: String(message['id']),
    model: String(message['model']),
    content,
    stopReason: stopReason ?? null,
    stopSequence: stopSequence ?? null,
    firstUsage,
    usage: { ...firstUsage, ...(end?.['usage'] as Fields) },
  }
}

function failed(events: readonly Event[], rest: readonly Event[]): Streamed {
  const last = rest.at(-1)
  assert.equal(last?.type, 'error', 'nothing follows an error')
  const error = last['error'] as Fields
  assert.ok(typeof error['type'] === 'string' && typeof error['message'] === 'string', 'the error says what happened')
  return {
    events,
    id: '',
    model: '',
    content: [],
    stopReason: null,
    stopSequence: null,
    firstUsage: {},
    usage: {},
    error,
  }
}

function requireEmpty({ type, text, thinking, signature, input, id, name }: Fields): void {
  if (type === 'text') assert.equal(text, '')
  else if (type === 'thinking') assert.deepEqual([thinking, signature], ['', ''])
  else {
    assert.equal(type, 'tool_use')
    assert.deepEqual(input, {})
    assert.match(String(id), /^[\w-]{1,64}$/)
    assert.ok(typeof name === 'string' && name !== '', 'a call has a name')
  }
}

/** Claude's API rejects blocks without these in a later turn. */
function requireWhole({ type, text, signature }: Fields): void {
  if (type === 'text') assert.notEqual(String(text).trim(), '', 'a text is more than white space')
  if (type === 'thinking') assert.notEqual(signature, '', 'thinking is signed')
}

/** The input of a call that may be cut. */
function tolerant(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
