/**
 * Fields without which a request still means the same, and models that refuse them. Agents send the same fields to every
 * model, so a refused field is replaced or left out and the request sent again, once for each model and field.
 */
import type { Conversation, Reasoning } from '../../conversation/conversation.ts'
import { GatewayError } from '../../errors.ts'
import { fieldAt } from '../../formats/field-names.ts'
import type { ConversationField, FieldNames } from '../../formats/format.ts'
import { effortOf } from '../../formats/reasoning.ts'
import type { Call, Provider } from '../../providers/contract.ts'
import { providerItself } from '../../providers/work.ts'
import { ByDeployment } from '../../routing/by-deployment.ts'
import { entryIn, isShort } from '../../wire/json.ts'
import { valueOf, withValue } from './hints.ts'

/** What a model refused, and what to say instead. */
type Lessons = Map<string, { readonly value: unknown }>

/** What a vendor is asked, and how its errors name the fields of a conversation. */
interface Asked {
  readonly provider: Provider
  readonly call: Pick<Call<unknown>, 'model' | 'maxOutputTokens'>
  readonly names: FieldNames
}

const known = new ByDeployment<Lessons>()

/** More than a model can refuse of one request. */
const maxTries = 8

/**
 * Sends what `plan` makes of a conversation that the model should accept, and of less of it for each 400 that names a field
 * which has a fallback. After a 400 that names no field, each of `suspects` is tried. Rejects with the error of any other
 * failure.
 */
export function withFallbacks<Plan, Answer>(
  to: Asked,
  conversation: Conversation,
  plan: (conversation: Conversation) => Plan,
  send: (plan: Plan) => Promise<Answer>,
): Promise<Answer> {
  const lessons: Lessons = known.of({ provider: providerItself(to.provider), model: to.call.model }, () => new Map())
  const asked = withLessons(conversation, lessons)
  const again = (said: Conversation) => send(plan(said))
  return send(plan(asked)).catch((thrown: unknown) => askAgain(to, asked, lessons, again, thrown))
}

/** `refused`: what was asked for the first time. */
async function askAgain<Answer>(
  { call: { maxOutputTokens }, names }: Asked,
  refused: Conversation,
  lessons: Lessons,
  send: (said: Conversation) => Promise<Answer>,
  failure: unknown,
): Promise<Answer> {
  let asked = refused
  let thrown = failure
  for (let tries = 1; ; tries++) {
    const param = tries < maxTries ? refusedParam(thrown) : undefined
    if (param === undefined) throw thrown
    if (param === null) return await withoutSuspect(asked, maxOutputTokens, lessons, send, thrown)
    const field = fieldAt(param, names)
    const less = field && lessOf(asked, field, param, maxOutputTokens)
    if (field === undefined || less === undefined) throw thrown
    remember(lessons, field, asked, less, (thrown as GatewayError).code === 'unsupported_parameter')
    asked = withLessons(less, lessons)
    try {
      return await send(asked)
    } catch (error) {
      thrown = error
    }
  }
}

/** The fields that most often are the reason for a 400 that names none: many vendors have no names for them. */
const suspects: readonly ConversationField[] = ['reasoning', 'output', 'max']

/** Tries less in one of the suspect fields. That field was the cause if this succeeds. */
async function withoutSuspect<Answer>(
  asked: Conversation,
  max: number | undefined,
  lessons: Lessons,
  send: (said: Conversation) => Promise<Answer>,
  refusal: unknown,
): Promise<Answer> {
  for (const field of suspects) {
    // Reasoning is left out at once: a vendor that names no fields has no efforts, as a rule.
    const less = field === 'reasoning' ? withValue(asked, field, undefined) : lessOf(asked, field, field, max)
    if (less === undefined) continue
    try {
      const answer = await send(less)
      // A limit may have been too high for this prompt only.
      if (field === 'reasoning') remember(lessons, field, asked, less, false)
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

/** Clients choose the values. */
const maxLessons = 256

/** `whatever`: the vendor refuses the field whatever its value, and not only this value, which another client may not send. */
function remember(
  lessons: Lessons,
  field: ConversationField,
  asked: Conversation,
  less: Conversation,
  whatever: boolean,
): void {
  // A format may have been refused for its schema.
  if (field === 'output' || lessons.size >= maxLessons) return
  const key = whatever && !suspects.includes(field) ? field : keyOf(field, valueOf(asked, field))
  lessons.set(key, { value: valueOf(less, field) })
}

function withLessons(conversation: Conversation, lessons: Lessons): Conversation {
  let said = conversation
  for (const field of lessons.size === 0 ? [] : fields) {
    for (let tries = 0, value = valueOf(said, field); tries < maxTries && value !== undefined; tries++) {
      const lesson = lessons.get(field) ?? lessons.get(keyOf(field, value))
      if (lesson === undefined) break
      said = withValue(said, field, lesson.value) ?? said
      value = lesson.value
    }
  }
  return said
}

/** Only values that a lesson may be about are short. */
function keyOf(field: string, value: unknown): string {
  return isShort(value, 64) ? `${field} ${JSON.stringify(value)}` : `${field} long`
}

const leftOut = ['temperature', 'topP', 'topK', 'parallel', 'user', 'stops'] as const

const fields: readonly ConversationField[] = [...leftOut, 'reasoning', 'max']

/** The conversation with less in a field; undefined if that would change what is asked, or if it has no such field. */
function lessOf(
  conversation: Conversation,
  field: ConversationField,
  param: string,
  most: number | undefined,
): Conversation | undefined {
  const { output, settings } = conversation
  const { reasoning, max } = settings
  if (leftOut.some((name) => name === field)) return withValue(conversation, field, undefined)
  if (field === 'reasoning' && reasoning !== undefined)
    return withValue(conversation, field, lessReasoning(reasoning, param, max))
  if (field === 'max' && max !== undefined) {
    const next = limits.find((each) => each < Math.min(max, most ?? max))
    return next === undefined ? undefined : withValue(conversation, field, next)
  }
  if (field !== 'output' || output === undefined) return undefined
  if (output.kind === 'json') return withValue(conversation, field, undefined)
  return inWords({ ...conversation, output: { kind: 'json' } }, output.schema)
}

/** Agents ask every model for as many tokens as the largest ones can write. */
const limits = [65_536, 32_768, 16_384, 8_192, 4_096]

const nextEfforts: Readonly<Record<string, Reasoning['effort']>> = {
  max: 'xhigh',
  xhigh: 'high',
  none: 'minimal',
  minimal: 'low',
}

/** Without a summary, or with the next effort to try; then with the vendor's default; then nothing. */
function lessReasoning(reasoning: Reasoning, param: string, max: number | undefined): Reasoning | undefined {
  if (param.endsWith('summary')) return { ...reasoning, show: 'hidden' }
  const effort = effortOf(reasoning, max)
  if (effort === undefined) return undefined
  const { mode, show } = reasoning
  return { mode: mode === 'off' ? undefined : mode, effort: entryIn(nextEfforts, effort), show }
}

/** For a model that turned out to have no schemas. */
function inWords(conversation: Conversation, schema: unknown): Conversation {
  const { turns } = conversation
  const text = `Answer with one JSON object and nothing else. It must fit this JSON schema:\n${JSON.stringify(schema)}`
  const words = { kind: 'text', text } as const
  const last = turns.at(-1)
  if (last?.role !== 'user') return { ...conversation, turns: [...turns, { role: 'user', blocks: [words] }] }
  return { ...conversation, turns: [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, words] }] }
}
