import { expect, test } from 'vitest'
import { writtenFrame } from '../../../src/endpoints/messages/message-json.ts'
import { eventFrame } from '../../../src/http/sse.ts'
import type { MessageEvent } from '../../../src/wire/messages.ts'

const text = 'A "quoted" line\n\u2028 and \ud83d\ude00 \ud83d'

const events: readonly MessageEvent[] = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_start', index: 11, content_block: { type: 'tool_use', id: 'a', name: 'b', input: {} } },
  { type: 'content_block_start', index: 1, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text } },
  { type: 'content_block_delta', index: 2, delta: { type: 'thinking_delta', thinking: text } },
  { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: text } },
  { type: 'content_block_delta', index: 2, delta: { type: 'signature_delta', signature: text } },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'stop_sequence', stop_sequence: text }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]

test.each(events)('a frame is the same as one that is printed from scratch: %j', (event) => {
  expect(writtenFrame(event)).toBe(eventFrame(event.type, event))
})
