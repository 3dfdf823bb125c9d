import { retrySame } from '../../providers/failure.ts'
import type { FinishReason } from '../../wire/chat.ts'
import { entryIn } from '../../wire/json.ts'
import type { Fields } from '../../conversation/conversation.ts'
import type { End, Reason } from '../../conversation/parts.ts'

const reasons: Readonly<Record<FinishReason, Reason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'filter',
  function_call: 'calls',
}

const names: Readonly<Record<Reason, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
  refused: 'content_filter',
  pause: 'stop',
  context: 'length',
  compaction: 'stop',
}

/** `stops`: the sequences that the vendor was asked to enforce. vLLM and SGLang name the one that they found. */
export function endOf(
  finish: FinishReason,
  { stop_reason: reason, matched_stop: matched }: Fields,
  stops: readonly string[],
): End {
  const stop = [reason, matched].find((each) => stops.includes(each as string)) as string | undefined
  return { reason: reasons[finish], stop, own: finish === 'function_call' ? { chat: { finish } } : undefined }
}

export function finishName(end: End | undefined, hasCalls: boolean): string {
  if (end === undefined) return hasCalls ? 'tool_calls' : 'stop'
  const name = (end.own?.chat?.['finish'] as FinishReason | undefined) ?? names[end.reason]
  return name === 'tool_calls' && !hasCalls ? 'stop' : name
}

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
