import { readUsage } from '../../wire/counts.ts'
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import type { TextChunk, TextChunkChoice, TextFinishReason } from '../../wire/completions.ts'
import type { Usage } from '../../wire/usage.ts'
import { finishOf } from '../../formats/chat/ends.ts'
import type { AnswerHead } from '../chunk-answer.ts'
import type { ChunkState } from '../chunk-stream.ts'

/** A chunk as clients receive it. */
export type FullTextChunk = TextChunk & AnswerHead & { readonly object: 'text_completion' }

/** Normalises the chunks of a text completion, and withholds the usage until the end. */
export class TextStreamState implements ChunkState<TextChunk, FullTextChunk> {
  usage: Usage | undefined
  serviceTier: string | undefined
  readonly #fallback: AnswerHead
  readonly #renamed: boolean
  #head: AnswerHead | undefined
  /** By index, whether the choice is complete. */
  readonly #finished = new Map<number, boolean>()

  constructor(fallback: AnswerHead, renamed: boolean) {
    this.#fallback = fallback
    this.#renamed = renamed
  }

  accept(chunk: TextChunk): FullTextChunk[] {
    const usage = readUsage(chunk.usage)
    if (usage !== undefined) this.usage = usage
    const tier = chunk['service_tier']
    if (typeof tier === 'string') this.serviceTier = tier
    const choices = (chunk.choices ?? []).flatMap((choice) => this.#accept(choice))
    if (choices.length === 0) return []
    this.#head ??= {
      id: chunk.id || this.#fallback.id,
      created: chunk.created || this.#fallback.created,
      model: (this.#renamed ? undefined : chunk.model) || this.#fallback.model,
    }
    const { usage: _, choices: __, system_fingerprint: print, ...rest } = chunk
    const own = typeof print === 'string' && { system_fingerprint: print }
    return [{ ...rest, ...own, ...this.#head, object: 'text_completion', choices }]
  }

  complete(): FullTextChunk[] {
    if (this.#finished.size === 0) this.#finished.set(0, false)
    const open = [...this.#finished].filter(([, finished]) => !finished)
    return open.map(([index]) => this.#chunk([{ text: '', index, logprobs: null, finish_reason: 'stop' }]))
  }

  last(): FullTextChunk {
    return this.#chunk([])
  }

  idle(): FullTextChunk {
    return this.#chunk([{ text: '', index: 0, logprobs: null, finish_reason: null }])
  }

  open(): FullTextChunk {
    this.#head = this.#fallback
    return this.idle()
  }

  #chunk(choices: TextChunkChoice[]): FullTextChunk {
    return { ...(this.#head ?? this.#fallback), object: 'text_completion', choices }
  }

  /** The client's choices for one of the vendor's; nothing after its end, because some vendors go on after it. */
  #accept(raw: TextChunkChoice): TextChunkChoice[] {
    const { index = 0, text, logprobs = null, finish_reason: reason, ...rest } = raw
    if (this.#finished.get(index) === true) return []
    if (this.#finished.size >= maxChoices && !this.#finished.has(index)) throw tooMany('choices', maxChoices)
    const finish = textFinishOf(reason)
    this.#finished.set(index, finish !== null)
    if (!text && !logprobs && finish === null) return []
    return [{ text: text ?? '', index, logprobs, finish_reason: finish, ...rest }]
  }
}

/** The finish reason; null if there is none. Those that only a chat has become `stop`. */
export function textFinishOf(reason: unknown): TextFinishReason | null {
  const finish = finishOf(reason)
  if (finish === undefined) return null
  return finish === 'length' || finish === 'content_filter' ? finish : 'stop'
}
