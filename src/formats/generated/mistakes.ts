/** What a provider's `generate` can get wrong. The errors are for the host's logs: they name the provider and the remedy. */
import type { Reason } from '../../conversation/parts.ts'
import type { GeneratedPart, GeneratedUsage } from '../../providers/generated-part.ts'
import { readUsage } from '../../wire/counts.ts'
import { isRecord } from '../../wire/json.ts'
import type { Usage } from '../../wire/usage.ts'

/** The field of each kind that must be there, and its type. */
const required: Readonly<
  Record<GeneratedPart['kind'], readonly [field: string, type: 'string' | 'object'] | undefined>
> = {
  start: undefined,
  text: ['text', 'string'],
  reasoning: ['text', 'string'],
  refusal: ['text', 'string'],
  call: ['name', 'string'],
  input: ['text', 'string'],
  ended: undefined,
  media: ['source', 'object'],
  citation: ['citation', 'object'],
  state: ['state', 'object'],
  own: ['value', 'object'],
  usage: undefined,
  end: ['end', 'object'],
}

const reasons: Readonly<Record<Reason, true>> = {
  stop: true,
  length: true,
  calls: true,
  filter: true,
  refused: true,
  pause: true,
  context: true,
  compaction: true,
}

export class Mistakes {
  readonly #provider: string

  constructor(provider: string) {
    this.#provider = provider
  }

  requirePart(value: unknown): GeneratedPart {
    if (!isRecord(value)) throw this.#of(`yielded ${described(value)}. Yield parts, such as text('Hello')`)
    const { kind } = value
    if (typeof kind !== 'string' || !Object.hasOwn(required, kind)) {
      if (kind === undefined && 'choices' in value) {
        throw this.#of("yielded a chunk of a chat. Yield parts, such as text('Hello'), or serve chats by `chat`")
      }
      const kinds = Object.keys(required).join(', ')
      throw this.#of(`yielded a part with the kind ${described(kind)}. The kinds are ${kinds}`)
    }
    const [field, type] = required[kind as GeneratedPart['kind']] ?? []
    if (field !== undefined && (value[field] === null || typeof value[field] !== type)) {
      throw this.#of(
        `yielded a part of the kind "${kind}" whose "${field}" is ${described(value[field])}, not of type ${type}`,
      )
    }
    if (kind === 'call') this.#requireCall(value)
    if (kind === 'end') this.requireEnd(value['end'])
    return value as unknown as GeneratedPart
  }

  #requireCall({ name, input = '' }: Readonly<Record<string, unknown>>): void {
    if (name === '') throw this.#of('yielded a call whose "name" is empty. Name the tool')
    if (typeof input !== 'string') {
      throw this.#of(`yielded a call whose input is ${described(input)}. Write its arguments as JSON text`)
    }
  }

  requireEnd(end: unknown): void {
    const reason: unknown = Object(end)['reason']
    if (typeof reason === 'string' && Object.hasOwn(reasons, reason)) return
    throw this.#of(`yielded the end ${described(reason)}. The ends are ${Object.keys(reasons).join(', ')}`)
  }

  /** Neither parts nor a whole answer would fail where nobody knows the provider. */
  requireAnswer<Answer>(answer: Answer): Answer & object {
    if (typeof answer !== 'object' || answer === null) throw this.answer(described(answer))
    return answer
  }

  /** Usage counts from the beginning of the answer, so it never falls. */
  requireUsage(raw: GeneratedUsage['usage'], before: Usage | undefined): Usage | undefined {
    if (raw === undefined) return before
    const usage = readUsage(raw)
    if (usage === undefined)
      throw this.#of('yielded usage without counts. Give it "prompt_tokens" and "completion_tokens"')
    for (const name of ['prompt_tokens', 'completion_tokens'] as const) {
      if (before === undefined || usage[name] >= before[name]) continue
      const fall = `from ${before[name]} to ${usage[name]}`
      throw this.#of(`yielded usage whose "${name}" falls ${fall}. Usage counts from the beginning of the answer`)
    }
    return usage
  }

  inputWithoutCall(): Error {
    return this.#of('yielded the input of a call before the call. Yield toolCall({ name, arguments }) first')
  }

  inputAfterEnd(): Error {
    return this.#of(
      'yielded the input of a call that has ended. Give calls that are written at the same time a "block" each',
    )
  }

  citationWithoutText(): Error {
    return this.#of('yielded a citation before any text. Yield it after the text that it belongs to')
  }

  stateWithoutBlock(): Error {
    return this.#of('yielded a state before any block. Yield it after the block that it belongs to')
  }

  otherKind(block: number | undefined, before: string, now: string): Error {
    return this.#of(`yielded "${now}" in block ${block}, which is "${before}". Give each block a number of its own`)
  }

  afterEnd(kind: string, choice: number): Error {
    return this.#of(`yielded a part of the kind "${kind}" after the end of choice ${choice}. Yield finish() last`)
  }

  choice(index: unknown): Error {
    return this.#of(`yielded the choice ${described(index)}. Choices are numbered from 0`)
  }

  answer(what: string): Error {
    return this.#of(`returned ${what}. Yield parts, or return { choices: [{ blocks: […] }] }`)
  }

  /** Not a `TypeError`: those are taken for malformed data of a vendor. */
  #of(what: string): Error {
    return new Error(`the provider "${this.#provider}" broke the contract of generate: it ${what}.`)
  }
}

function described(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40))
  if (typeof value === 'number') return String(value)
  return value === null ? 'null' : typeof value
}
