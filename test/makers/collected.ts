/** What clients make of streams. */
import type { Sent } from './maker.ts'

/** The message of a streamed chat, as a client adds up its deltas. */
export function messageIn(frames: readonly string[]): Sent {
  const message: Sent = { role: 'assistant', content: null }
  const calls: Sent[] = []
  for (const frame of frames) {
    const { choices = [] } = frame === '[DONE]' ? {} : JSON.parse(frame)
    const { tool_calls: pieces = [], role: _, ...delta } = choices[0]?.delta ?? {}
    for (const [name, value] of Object.entries(delta)) {
      const before = message[name]
      if (typeof value === 'string') message[name] = (before ?? '') + value
      else if (Array.isArray(value)) message[name] = [...(before ?? []), ...value]
      else if (value !== null) message[name] = value
    }
    for (const { index, function: called, ...piece } of pieces) {
      const call = (calls[index] ??= { function: { arguments: '' } })
      Object.assign(call, piece)
      call.function = { ...call.function, ...called, arguments: call.function.arguments + (called?.arguments ?? '') }
    }
  }
  return calls.length > 0 ? { ...message, tool_calls: calls } : message
}

/** The blocks of a streamed message; undefined if it did not end. */
export function contentIn(events: readonly Sent[]): Sent[] | undefined {
  const blocks: Sent[] = []
  const inputs: string[] = []
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'content_block_start') blocks[index] = { ...block }
    else if (type === 'content_block_delta') {
      const { type: _, partial_json: json, ...more } = delta
      if (json !== undefined) inputs[index] = (inputs[index] ?? '') + json
      for (const [name, text] of Object.entries(more)) blocks[index][name] = (blocks[index][name] ?? '') + text
    } else if (type === 'content_block_stop' && inputs[index] !== undefined)
      blocks[index].input = JSON.parse(inputs[index] || '{}')
  }
  return events.at(-1)?.type === 'message_stop' ? blocks : undefined
}
