/**
 * Fields without which a request still means the same, and models that refuse them. Agents send the same fields to every
 * model, so a refused field is replaced or left out and the request sent again, once for each model and field.
 */
import { GatewayError } from '../../errors.ts'
import type { Conversation, Output, Settings } from '../../conversation/conversation.ts'
import type { AskedFormat } from '../../formats/format.ts'
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts'
import type { Provider } from '../../providers/contract.ts'
import { ByDeployment } from '../../routing/by-deployment.ts'
import { providerItself } from '../../providers/work.ts'
import { entryIn, isShort, type Fields } from '../../wire/json.ts'

/** What to send instead of a refused value, by field; undefined: leave the field out; the same value: nothing else. */
type FieldFallbacks = Readonly<Record<string, (value: unknown, param: string) => unknown>>

/** What a model refused, and what to send instead. */
type Lessons = Map<string, { readonly value: unknown }>

const known = new ByDeployment<Lessons>()

/** More than a model can refuse of one request. */
const maxTries = 8

/**
 * Calls `ask` with a request that the model should accept, and again with less for each 400 that names a field of
 * `fallbacks`. After a 400 that names no field, each of `suspects` is tried. Rejects with the error of any other failure.
 */
export function withFallbacks<Request extends Fields, Answer>(
  provider: Provider,
  model: string,
  request: Request,
  fallbacks: FieldFallbacks,
  ask: (request: Request) => Promise<Answer>,
): Promise<Answer> {
  const lessons: Lessons = known.of({ provider: providerItself(provider), model }, () => new Map())
  const fields = withLessons(request, lessons)
  let asking: Promise<Answer>
  try {
    asking = ask(fields)
  } catch (thrown) {
    asking = Promise.reject(thrown)
  }
  return asking.catch((thrown: unknown) => askAgain(fields, fallbacks, lessons, ask, thrown))
}

/** `refused`: the request that failed for the first time. */
async function askAgain<Request extends Fields, Answer>(
  refused: Request,
  fallbacks: FieldFallbacks,
  lessons: Lessons,
  ask: (request: Request) => Promise<Answer>,
  failure: unknown,
): Promise<Answer> {
  let fields = refused
  let thrown = failure
  for (let tries = 1; ; tries++) {
    const param = tries < maxTries ? refusedParam(thrown) : undefined
    if (param === undefined) throw thrown
    if (param === null) return await askWithout(fields, fallbacks, lessons, ask, thrown)
    const field = rootOf(param)
    const value = fields[field]
    const next = Object.hasOwn(fallbacks, field) && value !== undefined ? fallbacks[field] : undefined
    if (next === undefined) throw thrown
    const lesson = { value: next(value, param) }
    if (lesson.value === value) throw thrown
    if (field === 'settings') rememberSetting(lessons, param, value as Fields, lesson.value as Fields)
    else remember(lessons, field, value, lesson, (thrown as GatewayError).code === 'unsupported_parameter')
    fields = withLessons({ ...fields, [field]: lesson.value }, lessons)
    try {
      return await ask(fields)
    } catch (again) {
      thrown = again
    }
  }
}

/** The fields that most often are the reason for a 400 that names none: many vendors have no names for them. */
const suspects = ['reasoning_effort', 'reasoning', 'response_format', 'max_tokens', 'max_output_tokens']

/** Tries the request with less in one of the suspect fields. That field was the cause if this succeeds. */
async function askWithout<Request extends Fields, Answer>(
  fields: Request,
  fallbacks: FieldFallbacks,
  lessons: Lessons,
  ask: (request: Request) => Promise<Answer>,
  refusal: unknown,
): Promise<Answer> {
  for (const field of suspects) {
    const value = fields[field]
    const next = value === undefined ? undefined : fallbacks[field]
    if (next === undefined) continue
    // An effort is left out at once: a vendor that names no fields has none of them, as a rule.
    const lesson = { value: field.startsWith('reasoning') ? undefined : next(value, field) }
    if (lesson.value === value) continue
    try {
      const answer = await ask({ ...fields, [field]: lesson.value })
      // A limit may have been too high for this prompt only.
      if (field.startsWith('reasoning')) remember(lessons, field, value, lesson, false)
      return answer
    } catch (thrown) {
      if (refusedParam(thrown) === undefined) throw thrown
    }
  }
  throw refusal
}

/** The field that a 400 names, or null; undefined for any other failure. */
function refusedParam(thrown: unknown): string | null | undefined {
  return GatewayError.is(thrown) && refusing.has(thrown.code) ? thrown.param : undefined
}

const refusing: ReadonlySet<string> = new Set(['invalid_request_error', 'unsupported_parameter', 'unsupported_value'])

function rootOf(param: string): string {
  return /^\w*/.exec(param)?.[0] ?? ''
}

/** Clients choose the values. */
const maxLessons = 256

/** A format may have been refused for its schema, and Gemini's settings are one field. */
const unremembered: ReadonlySet<string> = new Set(['response_format', 'output', 'generationConfig'])

/** `whatever`: the vendor refuses the field whatever its value, and not only this value, which another client may not send. */
function remember(
  lessons: Lessons,
  field: string,
  value: unknown,
  lesson: { readonly value: unknown },
  whatever: boolean,
) {
  if (unremembered.has(field) || lessons.size >= maxLessons) return
  lessons.set(whatever && !suspects.includes(field) ? field : keyOf(field, value), lesson)
}

/** What to send instead of one setting of a conversation. */
function rememberSetting(lessons: Lessons, param: string, settings: Fields, others: Fields): void {
  const name = param.replace('settings.', '')
  if (lessons.size < maxLessons) lessons.set(keyOf(param, settings[name]), { value: others[name] })
}

function withLessons<Request extends Fields>(request: Request, lessons: Lessons): Request {
  let fields = request
  const { settings } = request
  if (settings !== undefined) {
    const left = Object.entries(settings as Fields).map(([name, value]) => {
      return [name, (lessons.get(keyOf(`settings.${name}`, value)) ?? { value }).value] as const
    })
    return { ...request, settings: Object.fromEntries(left.filter(([, value]) => value !== undefined)) }
  }
  for (const name of lessons.size === 0 ? [] : Object.keys(request)) {
    for (let tries = 0; tries < maxTries && fields[name] !== undefined; tries++) {
      const lesson = lessons.get(name) ?? lessons.get(keyOf(name, fields[name]))
      if (lesson === undefined) break
      fields = { ...fields, [name]: lesson.value }
    }
  }
  return fields
}

/** Only values that a lesson may be about are short. */
function keyOf(field: string, value: unknown): string {
  return isShort(value, 64) ? `${field} ${JSON.stringify(value)}` : `${field} long`
}

/** The next effort to try; undefined: the vendor's default. */
function effortFallback(effort: unknown): unknown {
  return entryIn(nextEfforts, effort)
}

const nextEfforts: Readonly<Record<string, string>> = { max: 'xhigh', xhigh: 'high', none: 'minimal', minimal: 'low' }

/** The same for the field of a response, of which a model may refuse either part. */
function reasoningFallback(value: unknown, param: string): unknown {
  const { effort, summary } = value as { effort?: unknown; summary?: unknown }
  const next = param.endsWith('summary') ? { effort } : { effort: effortFallback(effort), summary }
  return next.effort === undefined && next.summary === undefined ? undefined : next
}

/** Agents ask every model for as many tokens as the largest ones can write. */
const limits = [65_536, 32_768, 16_384, 8_192, 4_096]

/** The next lower limit of output tokens. */
function limitFallback(limit: unknown): unknown {
  return limits.find((each) => each < Number(limit)) ?? limit
}

const leftOut: ReadonlySet<string> = new Set(['reasoning', 'temperature', 'topP', 'topK', 'user'])

/** The settings of a conversation without the refused one, or with less of it; the same settings if it cannot be left out. */
function settingsFallback(settings: unknown, param: string): unknown {
  const refused = param.replace('settings.', '')
  if (!leftOut.has(refused)) return settings
  const { reasoning } = settings as Settings
  const effort =
    refused === 'reasoning' ? effortFallback(reasoning?.mode === 'off' ? 'none' : reasoning?.effort) : undefined
  const entries = Object.entries(settings as Fields).filter(([name]) => name !== refused)
  return Object.fromEntries(effort === undefined ? entries : [...entries, ['reasoning', { effort }]])
}

const leftOutOfContent: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'thinkingConfig',
  'responseJsonSchema',
])

/** Gemini's settings without the refused one, or with a lower limit; the same settings if it cannot be left out. */
function contentFallback(config: unknown, param: string): unknown {
  const [, refused = ''] = param.split('.')
  const { [refused]: value, ...others } = config as Fields
  if (value === undefined) return config
  if (leftOutOfContent.has(refused)) return others
  const limit = refused === 'maxOutputTokens' ? limitFallback(value) : value
  return limit === value ? config : { ...others, [refused]: limit }
}

const leftAway = () => undefined
const usual = { temperature: leftAway, top_p: leftAway, parallel_tool_calls: leftAway, user: leftAway }

/** By the vendor's wire format: the fields that agents send to every model, and that change little of an answer. */
export const fallbacksOf: Readonly<Partial<Record<AskedFormat, FieldFallbacks>>> = {
  chat: {
    reasoning_effort: effortFallback,
    max_tokens: limitFallback,
    ...usual,
    top_k: leftAway,
    // The gateway enforces them.
    stop: leftAway,
    response_format: (format) => ((format as Fields)['type'] === 'json_schema' ? { type: 'json_object' } : undefined),
  },
  gemini: { generationConfig: contentFallback },
  generate: {
    settings: settingsFallback,
    output: (output) => ((output as Output).kind === 'schema' ? { kind: 'json' } : undefined),
  },
  responses: {
    reasoning: reasoningFallback,
    max_output_tokens: limitFallback,
    ...usual,
  },
}

/** The request with the schema in words, if `asked`, for a model that turned out to have no schemas, had one. */
export function inWords(request: Fields, asked: Fields): Fields {
  if ('turns' in asked) return turnsInWords(request, asked as unknown as Conversation)
  const { response_format: format } = asked as Partial<ChatRequest>
  if (request['response_format'] === format || format?.type !== 'json_schema') return request
  const schema = (format['json_schema'] as Fields | undefined)?.['schema']
  const text = wordsFor(schema)
  const messages = request['messages'] as readonly ChatMessage[]
  const last = messages.at(-1)
  if (last?.role !== 'user') return { ...request, messages: [...messages, { role: 'user', content: text }] }
  const { content } = last
  const words = typeof content === 'string' ? `${content}\n\n${text}` : [...(content ?? []), { type: 'text', text }]
  return { ...request, messages: [...messages.slice(0, -1), { ...last, content: words }] }
}

function turnsInWords(request: Fields, { output }: Conversation): Fields {
  if (request['output'] === output || output?.kind !== 'schema') return request
  const block = { kind: 'text', text: wordsFor(output.schema) } as const
  const turns = request['turns'] as Conversation['turns']
  const last = turns.at(-1)
  if (last?.role !== 'user') return { ...request, turns: [...turns, { role: 'user', blocks: [block] }] }
  return { ...request, turns: [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, block] }] }
}

function wordsFor(schema: unknown): string {
  return `Answer with one JSON object and nothing else. It must fit this JSON schema:\n${JSON.stringify(schema)}`
}
