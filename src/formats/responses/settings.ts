/** Settings and the format of the answer, in the words of this wire. */
import { isClosed } from '../closed-schema.ts'
import type { Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { writeNumbers } from '../field-names.ts'
import type { Target } from '../format.ts'
import { effortOf } from '../reasoning.ts'
import { numbers } from './field-names.ts'
import type { ResponsesTraits } from './traits.ts'

export function writeOutput(output: Output | undefined): Fields | undefined {
  if (output === undefined) return undefined
  if (output.kind === 'json') return { format: { type: 'json_object' } }
  const { name = 'answer', description, schema, strict = isClosed(schema) } = output
  return { format: { type: 'json_schema', name, description, schema, strict } }
}

export function writeSettings(settings: Settings, to: Target<ResponsesTraits>): Record<string, unknown> {
  const { max, topK, logprobs, user, tier, stream } = settings
  const out: Record<string, unknown> = {}
  if (stream === true) out['stream'] = true
  Object.assign(out, writeNumbers(settings, numbers))
  if (max !== undefined) out['max_output_tokens'] = Math.max(to.traits.leastTokens ?? 1, max)
  if (topK !== undefined) to.omit('top_k', 'the wire has no such field')
  if (logprobs !== undefined && logprobs > 0) out['top_logprobs'] = logprobs
  if (user !== undefined) out['user'] = user
  // The default.
  if (tier !== undefined && tier !== 'auto') out['service_tier'] = tier
  const reasoning = reasoningOf(settings.reasoning, max, to.shown)
  if (reasoning !== undefined) out['reasoning'] = reasoning
  return out
}

/** What the client wants to read must be asked for. */
function reasoningOf(
  reasoning: Reasoning | undefined,
  max: number | undefined,
  shown: Target<ResponsesTraits>['shown'],
): Fields | undefined {
  if (reasoning === undefined) return undefined
  const effort = effortOf(reasoning, max)
  const { show, mode } = reasoning
  const asksText = show === 'summary' || (shown === 'shown' && show !== 'hidden' && mode !== 'off')
  if (effort === undefined && !asksText) return undefined
  return { effort, summary: asksText ? 'auto' : undefined }
}
