/** The request as a vendor gets it. */
import { GoogleStateReader, mayHoldEnvelopes, readSignature } from '../../formats/gemini/state.ts'
import type { Model } from '../../models/contract.ts'
import { noSignature } from '../../providers/content/signatures.ts'
import type { Call } from '../../providers/contract.ts'
import type { ContentPart, GenerateContentRequest } from '../../wire/gemini.ts'
import { isRecord, type Fields } from '../../wire/json.ts'
import { fieldWithDigits, requestWithDigits } from '../digits.ts'
import { amend } from '../order.ts'
import { costChanges } from './guard.ts'
import { configIn } from './request.ts'

/** The call without what the model does not allow, which is added to `omitted`, and within the model's limits. */
export function vendorCall(
  call: Call<GenerateContentRequest>,
  model: Model,
  omitted: (name: string) => void,
): Call<GenerateContentRequest> {
  const changesTo = (request: Fields, omit: (name: string) => void) => ({
    ...costChanges(request, call.fixed ?? {}, model, omit),
    ...withinLimits(call, request),
  })
  const changes: Fields = changesTo(call.request, omitted)
  const isRewritten = changes['tools'] !== undefined || changes['generationConfig'] !== undefined
  const exact = isRewritten ? requestWithDigits(call) : undefined
  return amend(call, exact === undefined ? changes : changesTo(exact, () => undefined))
}

/** The limit of output tokens stands inside of `generationConfig`. */
function withinLimits(call: Call<unknown>, request: Fields): Fields {
  const limit = call.field('maxOutputTokens')
  const most = call.maxOutputTokens ?? Infinity
  const asked = typeof limit === 'number' ? limit : undefined
  const config = configIn((name) => request[name])
  const { max_output_tokens: snake, ...rest } = config
  const given = config['maxOutputTokens'] ?? snake
  const tokens = asked === undefined ? asked : Math.min(asked, most)
  if (tokens === given) return { maxOutputTokens: undefined }
  return {
    maxOutputTokens: undefined,
    generation_config: undefined,
    generationConfig: { ...rest, maxOutputTokens: tokens },
  }
}

const needle = Buffer.from('bWgxL')

/** For a vendor with Google's API: the state of other makers is taken out of the conversation. */
export function nativeCall(call: Call<GenerateContentRequest>): Call<GenerateContentRequest> {
  const bytes = call.json({})
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(needle)) return call
  const contents = fieldWithDigits(call, 'contents')
  if (!Array.isArray(contents)) return call
  const states = new GoogleStateReader()
  return amend(call, { contents: contents.map((content) => readable(content, states)) })
}

function readable(content: unknown, states: GoogleStateReader): unknown {
  const parts = isRecord(content) ? content['parts'] : undefined
  if (!Array.isArray(parts)) return content
  return {
    ...(content as object),
    parts: parts.map((part: unknown) => (isRecord(part) ? readablePart(part, states) : part)),
  }
}

function readablePart(part: ContentPart, states: GoogleStateReader): ContentPart {
  const { thoughtSignature, thought_signature: snake = thoughtSignature, ...rest } = part
  if (typeof snake !== 'string' || !mayHoldEnvelopes(snake)) return part
  const { state } = readSignature(snake)
  const { signature, calls } =
    state?.maker === 'google' ? states.read(state) : { signature: undefined, calls: new Map<string, string>() }
  const own = signature ?? [...calls.values()][0]
  if (own !== undefined) return { ...rest, thoughtSignature: own }
  return 'functionCall' in rest ? { ...rest, thoughtSignature: noSignature } : rest
}
