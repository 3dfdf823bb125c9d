/** Reads the fields of a chat request that every vendor has, under different names. */
import { invalid } from '../../errors.ts'
import type { Call } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import { unsupportedValue } from '../unsupported.ts'
import type { SystemTurn } from './messages.ts'
import { listOf, readRecord } from './parts.ts'

/** The requested format of the response. */
export type Format =
  | { readonly kind: 'text' | 'json' }
  | {
      readonly kind: 'schema'
      readonly name?: string
      readonly description?: string
      readonly schema: Readonly<Record<string, unknown>>
    }

/** An instruction to respond in JSON, for models that cannot be constrained to it. */
export const jsonTurn: SystemTurn = {
  role: 'system',
  parts: [
    {
      kind: 'text',
      text: 'Answer with one valid JSON object and nothing else: no code fence, no words before or after it.',
      raw: {},
    },
  ],
}

export function readFormat(call: Pick<Call<ChatRequest>, 'request' | 'publicModel'>): Format {
  const format = call.request.response_format
  switch (format?.type) {
    case undefined:
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return { kind: 'json' }
    case 'json_schema': {
      const param = 'response_format.json_schema'
      const { name, description, schema } = readRecord(format.json_schema, param)
      if (schema === undefined) return { kind: 'json' }
      return {
        kind: 'schema',
        schema: readRecord(schema, `${param}.schema`),
        ...(typeof name === 'string' && { name }),
        ...(typeof description === 'string' && { description }),
      }
    }
    default:
      throw unsupportedValue(call, 'response_format.type', 'it must be "text", "json_object" or "json_schema".')
  }
}

/** The stop sequences. */
export function readStops({ stop }: ChatRequest): string[] {
  if (typeof stop === 'string') return [stop]
  return listOf(stop, 'stop').map((each, index) => {
    if (typeof each === 'string') return each
    throw invalid('"stop" must be a string or a list of strings.', `stop[${index}]`)
  })
}

/** The client's limit of output tokens; undefined if it set none. */
export function readLimit(request: ChatRequest): number | undefined {
  return request.max_completion_tokens ?? request.max_tokens ?? undefined
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

const efforts: ReadonlySet<string> = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

export function readEffort(request: ChatRequest): Effort | undefined {
  const effort = request.reasoning_effort
  if (effort === undefined || effort === null) return undefined
  if (!efforts.has(effort)) {
    throw invalid(`"reasoning_effort" must be one of ${[...efforts].join(', ')}.`, 'reasoning_effort')
  }
  return effort as Effort
}
