/** The responses of a healthy vendor. */
import type { Line } from './raw-vendor.ts'

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' }
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }

function frame(choices: object[], more: object = {}): string {
  return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`
}

function delta(content: object, finish: string | null = null): string {
  return frame([{ index: 0, delta: content, logprobs: null, finish_reason: finish }])
}

/** The events of the streamed response "Hello!": role, two pieces of text, finish reason, usage, `[DONE]`. */
export const events: readonly string[] = [
  delta({ role: 'assistant', content: '' }),
  delta({ content: 'Hello' }),
  delta({ content: '!' }),
  delta({}, 'stop'),
  frame([], { usage }),
  'data: [DONE]\n\n',
]

/** The non-streaming response "Hello!". */
export const whole: string = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello!', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
})

/** A vendor that works. */
export function healthy(line: Line, stream: boolean): void {
  if (!stream) line.answer('200', 'application/json', whole)
  else line.events().chunk(events.join('')).last()
}
