import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import type { ChatChunk, ChunkChoice } from '../../wire/chat.ts'
import { ChunkFacts, type AnswerHead } from '../chunk-facts.ts'
import type { ChunkState } from '../chunk-stream.ts'
import { ChoiceState } from './choice.ts'

/** A chunk as clients receive it. */
export type FullChunk = ChatChunk &
  AnswerHead & { readonly object: 'chat.completion.chunk'; readonly system_fingerprint?: string }

/** Normalises the chunks of a chat response, and withholds the usage until the end. */
export class ChatStreamState extends ChunkFacts implements ChunkState<ChatChunk, FullChunk> {
  readonly #maker: string | undefined
  readonly #choices = new Map<number, ChoiceState>()
  /** That of the vendor. Clients that validate reject null in a chunk. */
  #fingerprint: { readonly system_fingerprint: string } | undefined

  /** `maker`: the name in envelopes; default: none are made. */
  constructor(fallback: AnswerHead, renamed: boolean, maker?: string) {
    super(fallback, renamed)
    this.#maker = maker
  }

  get finishReasons(): string[] | undefined {
    return [...this.#choices.values()].flatMap(({ finished }) => finished ?? [])
  }

  accept(chunk: ChatChunk): FullChunk[] {
    this.count(chunk)
    const choices = chunk.choices ?? []
    if (choices.length > 0 || chunk.id) this.name(chunk)
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
    this.name()
    return this.#chunk(this.#stateOf(0).open())
  }

  #chunk(choices: ChunkChoice[]): FullChunk {
    const { head } = this
    return { ...head, object: 'chat.completion.chunk', ...this.#fingerprint, choices }
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
