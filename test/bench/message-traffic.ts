/** The chats of the scenarios as Anthropic's Messages API has them: the same question, words and number of frames. */
import type { Scenario } from './traffic.ts'

const id = 'msg_01CkzXq7b2dQ0yXw3vT5mR8nLp'
const usage = { input_tokens: 180, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 150 }
const head = { id, type: 'message', role: 'assistant', stop_sequence: null }

/** The request of a scenario. */
export function messageBody({ body }: Pick<Scenario, 'body'>, model: string): string {
  const { messages, stream } = JSON.parse(body(model)) as { messages: { role: string }[]; stream?: boolean }
  const [system, ...turns] = messages as { role: string; content: string }[]
  const request = { model, max_tokens: 1024, system: system?.content, messages: turns, temperature: 0.7 }
  return JSON.stringify(stream === true ? { ...request, stream } : request)
}

/** A non-streaming response of about 1 KB. */
export function message(model: string): string {
  const content = [{ type: 'text', text: 'Sunlight is scattered by the air. '.repeat(16) }]
  return JSON.stringify({ ...head, model, content, stop_reason: 'end_turn', usage })
}

/** The frames of a streamed response with `chunks` words. */
export function messageFrames(model: string, chunks: number): string[] {
  const delta = { type: 'text_delta', text: ' scatter' }
  const words = Array.from({ length: chunks }, () => frame({ type: 'content_block_delta', index: 0, delta }))
  return [
    frame({ type: 'message_start', message: { ...head, model, content: [], stop_reason: null, usage } }),
    frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    frame({ type: 'ping' }),
    ...words,
    frame({ type: 'content_block_stop', index: 0 }),
    frame({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    frame({ type: 'message_stop' }),
  ]
}

function frame(event: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
