/** How responses end, and what is counted. */
import type { Fields } from '../../conversation/conversation.ts'
import type { End, Reason } from '../../conversation/parts.ts'
import { isRecord } from '../../wire/json.ts'

const incomplete: Partial<Record<Reason, string>> = {
  length: 'max_output_tokens',
  context: 'max_output_tokens',
  filter: 'content_filter',
  refused: 'content_filter',
}

/** The end of a response with this status; undefined while it goes on. */
export function endOf({ status, incomplete_details: details }: Fields, hasCalls: boolean): End | undefined {
  if (status === 'in_progress' || status === 'queued') return undefined
  const why = isRecord(details) ? details['reason'] : undefined
  if (why === 'content_filter') return { reason: 'filter' }
  if (status === 'incomplete') return { reason: 'length' }
  return { reason: hasCalls ? 'calls' : 'stop' }
}

/** Why a response is incomplete; undefined for one that is complete. */
export function incompleteReason(end: End | undefined): string | undefined {
  return end === undefined ? undefined : incomplete[end.reason]
}
