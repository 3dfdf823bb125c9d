import { readUsage } from '../../wire/counts.ts'
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import type { ChatChunk, ChunkChoice } from '../../wire/chat.ts'
import type { Usage } from '../../wire/usage.ts'
import type { AnswerHead } from '../chunk-answer.ts'
import type { ChunkState } from '../chunk-stream.ts'
import { ChoiceState } from './choice.ts'

/** A chunk as clients receive it. */
export type FullChunk = ChatChunk &
  AnswerHead & { readonly object: 'chat.completion.chunk'; readonly system_fingerprint?: string }

/** Normalises the chunks of a chat response, and withholds the usage until the end. */
export class ChatStreamState implements ChunkState<ChatChunk, FullChunk> {
  readonly #fallback: AnswerHead
  readonly #renamed: boolean
  readonly #maker: string | undefined
  readonly #choices = new Map<number, ChoiceState>()
  #head: AnswerHead | undefined
  /** That of the vendor. Clients that validate reject null in a chunk. */
  #fingerprint: { readonly system_fingerprint: string } | undefined
  usage: Usage | undefined
  serviceTier: string | undefined

  /**
   * `fallback`: values for fields the vendor omits; with `renamed`, its model name replaces the vendor's. `maker`: the name
   * in envelopes; default: none are made.
   */
  constructor(fallback: AnswerHead, renamed: boolean, maker?: string) {
    this.#fallback = fallback
    this.#renamed = renamed
    this.#maker = maker
  }

  /** The vendor's id, creation time and model, with fallbacks; the same in every chunk. */
  get head(): AnswerHead {
    return this.#head ?? this.#fallback
  }

  get finishReasons(): string[] {
    return [...this.#choices.values()].flatMap(({ finished }) => finished ?? [])
  }

  accept(chunk: ChatChunk): FullChunk[] {
    const usage = readUsage(chunk.usage)
    if (usage !== undefined) this.usage = usage
    const tier = chunk['service_tier']
    if (typeof tier === 'string') this.serviceTier = tier
    const choices = chunk.choices ?? []
    if (choices.length > 0 || chunk.id) this.#head ??= this.#headOf(chunk)
    if (choices.length === 0) return []
    if (choices.length > maxChoices) throw tooMany('pieces in one event', maxChoices)
    const { usage: _, choices: __, id: ___, created: ____, model: _____, system_fingerprint: print, ...rest } = chunk
    if (typeof print === 'string' && print !== this.#fingerprint?.system_fingerprint)
      this.#fingerprint = { system_fingerprint: print }
    return choices
      .flatMap((choice) => this.#stateOf(choice.index ?? 0).accept(choice))
      .map((choice) => ({ ...rest, ...this.#chunk([choice]) }))
  }

  complete(): FullChunk[] {
    if (this.#choices.size === 0) this.#stateOf(0)
    const open = [...this.#choices.values()].filter((choice) => choice.finished === undefined)
    return open
      .flatMap((choice) => choice.finish(choice.hasCalls ? 'tool_calls' : 'stop'))
      .map((choice) => this.#chunk([choice]))
  }

  last(): FullChunk {
    return this.#chunk([])
  }

  idle(): FullChunk {
    return this.#chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: null }])
  }

  open(): FullChunk {
    this.#head = this.#fallback
    return this.#chunk(this.#stateOf(0).open())
  }

  #chunk(choices: ChunkChoice[]): FullChunk {
    const { head } = this
    return { ...head, object: 'chat.completion.chunk', ...this.#fingerprint, choices }
  }

  #headOf(chunk: ChatChunk): AnswerHead {
    const model = this.#renamed ? undefined : chunk.model
    return {
      id: chunk.id || this.#fallback.id,
      created: chunk.created || this.#fallback.created,
      model: model || this.#fallback.model,
    }
  }

  #stateOf(index: number): ChoiceState {
    let state = this.#choices.get(index)
    if (state === undefined) {
      if (this.#choices.size === maxChoices) throw tooMany('choices', maxChoices)
      this.#choices.set(index, (state = new ChoiceState(index, this.#maker)))
    }
    return state
  }
}
