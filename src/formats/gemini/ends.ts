/** How candidates end. */
import { useless } from '../../providers/failure.ts'
import type { Usage } from '../../wire/usage.ts'
import type { End, Reason } from '../../conversation/parts.ts'

/** Finish reasons of a broken response, which the tools and the turns of the client cause. */
const broken = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

const filtered = /^(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|IMAGE_.*)$/

/** Throws for the reason of a response whose parts cannot be trusted. */
export function requireUsable(reason: string, usage: Usage | undefined): void {
  if (broken.has(reason)) throw useless(`the vendor ended the response with ${reason}`, usage)
}

/** This wire has no reason of its own for calls. */
export function readEnd(finish: string, hasCalls: boolean): End {
  const reason = reasonOf(finish, hasCalls)
  return names[reason] === finish ? { reason } : { reason, own: { gemini: { finishReason: finish } } }
}

function reasonOf(finish: string, hasCalls: boolean): Reason {
  if (finish === 'MAX_TOKENS' || finish === 'CONTINUATION') return 'length'
  if (filtered.test(finish)) return 'filter'
  return hasCalls ? 'calls' : 'stop'
}

const names: Readonly<Record<Reason, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  calls: 'STOP',
  filter: 'SAFETY',
  refused: 'SAFETY',
  pause: 'STOP',
  context: 'MAX_TOKENS',
  compaction: 'STOP',
}

export function finishName(end: End | undefined): unknown {
  return end?.own?.gemini?.['finishReason'] ?? names[end?.reason ?? 'stop']
}
