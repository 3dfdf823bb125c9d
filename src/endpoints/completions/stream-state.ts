import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import type { TextChunk, TextChunkChoice, TextFinishReason } from '../../wire/completions.ts'
import { finishOf } from '../../formats/chat/ends.ts'
import { ChunkFacts, type AnswerHead } from '../chunk-facts.ts'
import type { ChunkState } from '../chunk-stream.ts'

/** A chunk as clients receive it. */
export type FullTextChunk = TextChunk & AnswerHead & { readonly object: 'text_completion' }

/** Normalises the chunks of a text completion, and withholds the usage until the end. */
export class TextStreamState extends ChunkFacts implements ChunkState<TextChunk, FullTextChunk> {
  /** By index, whether the choice is complete. */
  readonly #finished = new Map<number, boolean>()

  accept(chunk: TextChunk): FullTextChunk[] {
    this.count(chunk)
    const choices = (chunk.choices ?? []).flatMap((choice) => this.#accept(choice))
    if (choices.length === 0) return []
    this.name(chunk)
    const { usage: _, choices: __, system_fingerprint: print, ...rest } = chunk
    const own = typeof print === 'string' && { system_fingerprint: print }
    return [{ ...rest, ...own, ...this.head, object: 'text_completion', choices }]
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
    this.name()
    return this.idle()
  }

  #chunk(choices: TextChunkChoice[]): FullTextChunk {
    return { ...this.head, object: 'text_completion', choices }
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
