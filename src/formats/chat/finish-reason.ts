import { entryIn } from '../../wire/json.ts'
import { retrySame } from '../../providers/failure.ts'
import type { FinishReason } from '../../wire/chat.ts'

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  function_call: 'function_call',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  safety: 'content_filter',
}

/** The finish reason in OpenAI's terms; undefined if there is none. Unknown reasons become `stop`; `error` throws. */
export function finishOf(reason: unknown): FinishReason | undefined {
  if (typeof reason !== 'string' || reason === '') return undefined
  if (reason === 'error') throw retrySame(new Error('the vendor ended the response with finish_reason "error"'))
  return entryIn(finishes, reason) ?? 'stop'
}
