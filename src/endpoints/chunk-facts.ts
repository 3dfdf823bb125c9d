/** What a response of chunks says about itself, whichever of them says it. */
import { readUsage } from '../wire/counts.ts'
import { stringOf, type Fields } from '../wire/json.ts'
import type { Usage } from '../wire/usage.ts'

/** The identifying fields of a response. */
export interface AnswerHead {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
}

/** The vendor's id, creation time and model; those of `fallback` where it has none, and if `renamed`, its model. */
export function namedAs(raw: Partial<AnswerHead>, fallback: AnswerHead, renamed: boolean): AnswerHead {
  return {
    id: raw.id || fallback.id,
    created: raw.created || fallback.created,
    model: (renamed ? undefined : raw.model) || fallback.model,
  }
}

export class ChunkFacts {
  usage: Usage | undefined
  serviceTier: string | undefined
  readonly #fallback: AnswerHead
  readonly #renamed: boolean
  #head: AnswerHead | undefined

  /** `fallback`: values for fields the vendor omits; with `renamed`, its model name replaces the vendor's. */
  constructor(fallback: AnswerHead, renamed: boolean) {
    this.#fallback = fallback
    this.#renamed = renamed
  }

  /** The same in every chunk. */
  get head(): AnswerHead {
    return this.#head ?? this.#fallback
  }

  protected count({ usage, service_tier: tier }: Fields): void {
    this.usage = readUsage(usage) ?? this.usage
    this.serviceTier = stringOf(tier) ?? this.serviceTier
  }

  /** The response keeps the fields of its first chunk, or the gateway's own. */
  protected name(chunk?: Partial<AnswerHead>): void {
    this.#head ??= chunk === undefined ? this.#fallback : namedAs(chunk, this.#fallback, this.#renamed)
  }
}
