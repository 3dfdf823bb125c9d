import { eventFrame } from '../../http/sse.ts'
import { jsonText } from '../../wire/json-text.ts'
import type { Message, MessageBlock, MessageEvent } from '../../wire/messages.ts'
import { usageText } from './usage.ts'

/** The frame of an event of `EventWriter`, whose events have no further fields: most of a frame is the same every time. */
export function writtenFrame(event: MessageEvent): string {
  switch (event.type) {
    case 'content_block_delta': {
      const { index, delta } = event
      if (delta.type === 'text_delta') return deltaFrame(index, `"text_delta","text":${JSON.stringify(delta.text)}`)
      if (delta.type === 'input_json_delta') {
        return deltaFrame(index, `"input_json_delta","partial_json":${JSON.stringify(delta.partial_json)}`)
      }
      if (delta.type === 'thinking_delta') {
        return deltaFrame(index, `"thinking_delta","thinking":${JSON.stringify(delta.thinking)}`)
      }
      break
    }
    case 'content_block_start':
      if (event.content_block.type !== 'text') break
      return `event: content_block_start\ndata: {"type":"content_block_start","index":${event.index},"content_block":{"type":"text","text":""}}\n\n`
    case 'content_block_stop':
      return `event: content_block_stop\ndata: {"type":"content_block_stop","index":${event.index}}\n\n`
    case 'message_stop':
      return stopFrame
  }
  return eventFrame(event.type, event)
}

const stopFrame = eventFrame('message_stop', { type: 'message_stop' })

function deltaFrame(index: number, fields: string): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":${fields}}}\n\n`
}

/** The JSON text of a message that the gateway has made, which has no further fields. */
export function writtenMessage({ id, model, content, stop_reason, stop_sequence, usage }: Message): string {
  const head = `{"id":${jsonText(id)},"type":"message","role":"assistant","model":${jsonText(model)}`
  const end = `"stop_reason":${jsonText(stop_reason)},"stop_sequence":${jsonText(stop_sequence)}`
  return `${head},"content":${contentText(content)},${end},"usage":${usageText(usage)}}`
}

function contentText(content: readonly MessageBlock[]): string {
  const [first] = content
  const isText = content.length === 1 && first?.type === 'text'
  return isText ? `[{"type":"text","text":${JSON.stringify(first.text)}}]` : JSON.stringify(content)
}
