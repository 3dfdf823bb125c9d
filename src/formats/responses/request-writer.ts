import type { Conversation, Fields, Output, Reasoning, Settings } from '../../conversation/conversation.ts'
import { itemsOf } from '../../wire/json.ts'
import type { Target } from '../format.ts'
import { logprobsField, numbers } from './field-names.ts'
import { ItemWriter } from './item-writer.ts'
import { writeTools } from './tools.ts'
import type { ResponsesTraits } from './traits.ts'
import { isClosed } from '../closed-schema.ts'
import { writeNumbers } from '../field-names.ts'
import { effortOf } from '../reasoning.ts'

/** Writes the body of `POST /v1/responses`. */
export function writeRequest(conversation: Conversation, to: Target<ResponsesTraits>): Fields {
  const { turns, output, settings, own } = conversation
  const { instructions, input } = new ItemWriter(to).write(turns)
  const { text, reasoning, include, ...more } = own?.responses ?? {}
  const body: Record<string, unknown> = { model: to.model, input }
  if (instructions !== undefined) body['instructions'] = instructions
  const { reasoning: written, ...rest } = writeSettings(settings, to)
  Object.assign(body, rest, writeTools(conversation, to.omit))
  const wanted = [...itemsOf(include)]
  if (settings.logprobs !== undefined) wanted.push(logprobsField)
  if (to.traits.stateless === true) {
    body['store'] = false
    wanted.push('reasoning.encrypted_content')
  }
  if (wanted.length > 0) body['include'] = wanted
  const format = writeOutput(output)
  const { verbosity } = settings
  if (format !== undefined || text !== undefined || verbosity !== undefined)
    body['text'] = { ...format, verbosity, ...(text as Fields | undefined) }
  if (written !== undefined || reasoning !== undefined)
    body['reasoning'] = { ...(written as Fields | undefined), ...(reasoning as Fields | undefined) }
  return Object.assign(body, more)
}

function writeOutput(output: Output | undefined): Fields | undefined {
  if (output === undefined) return undefined
  if (output.kind === 'json') return { format: { type: 'json_object' } }
  const { name = 'answer', description, schema, strict = isClosed(schema) } = output
  return { format: { type: 'json_schema', name, description, schema, strict } }
}

function writeSettings(settings: Settings, to: Target<ResponsesTraits>): Record<string, unknown> {
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
