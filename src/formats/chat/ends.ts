import type { FinishReason } from '../../wire/chat.ts'
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
  return {
    reason: reasons[finish],
    ...(stop !== undefined && { stop }),
    ...(finish === 'function_call' && { own: { chat: { finish } } }),
  }
}

export function finishName(end: End | undefined, hasCalls: boolean): string {
  if (end === undefined) return hasCalls ? 'tool_calls' : 'stop'
  const name = (end.own?.chat?.['finish'] as FinishReason | undefined) ?? names[end.reason]
  return name === 'tool_calls' && !hasCalls ? 'stop' : name
}
