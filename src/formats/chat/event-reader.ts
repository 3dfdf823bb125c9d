/** Reads the chunks of a streamed chat, whichever vendor they come from. */
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import { faultIn } from '../../providers/chat-chunk.ts'
import { readUsage } from '../../wire/counts.ts'
import { isRecord, itemsOf, stringOf } from '../../wire/json.ts'
import type { Fields } from '../../conversation/conversation.ts'
import { others } from '../../conversation/own.ts'
import type { Part } from '../../conversation/parts.ts'
import type { EventReader, Source } from '../format.ts'
import { ChoiceReader, type BlockCount } from './choice-reader.ts'

const known = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'system_fingerprint',
  'obfuscation',
  'p',
])

export class ChatEventReader implements EventReader {
  done = false
  readonly #from: Source
  readonly #choices = new Map<number, ChoiceReader>()
  readonly #count: BlockCount = { blocks: 0 }
  #hasStarted = false
  /** The vendor's own fields, as they were sent last. */
  #own = ''
  /** Of a search, which some vendors repeat in every chunk. */
  #search: Fields | undefined

  constructor(from: Source) {
    this.#from = from
  }

  read(event: Fields, out: Part[], name: string = 'message'): void {
    const fault = faultIn(event, name)
    if (fault !== undefined) throw this.#from.failure(fault)
    const { choices, usage } = event
    const pieces = itemsOf(choices)
    if (pieces.length > maxChoices) throw tooMany('pieces in one event', maxChoices)
    if (!this.#hasStarted && (event['id'] || pieces.length > 0)) this.#start(event, out)
    this.#further(event, out)
    for (const piece of pieces) if (isRecord(piece)) this.#of(piece['index']).read(piece, this.#search, out)
    const counted = usage ? readUsage(usage) : undefined
    if (counted !== undefined) out.push({ kind: 'usage', usage: counted, counters: usage as Fields })
  }

  /** The vendor sent `[DONE]`, or the connection has ended. */
  end(out: Part[]): void {
    this.done = true
    if (this.#choices.size === 0) this.#of(0)
    for (const choice of this.#choices.values()) choice.end(this.#search, out)
  }

  #start({ id, created, model, system_fingerprint: print }: Fields, out: Part[]): void {
    this.#hasStarted = true
    const own = typeof print === 'string' ? { chat: { system_fingerprint: print } } : undefined
    const since = typeof created === 'number' && created > 0 ? created : undefined
    out.push({ kind: 'start', id: stringOf(id) || undefined, created: since, model: stringOf(model) || undefined, own })
  }

  /** Fields of the vendor's own, once for each value. */
  #further(event: Fields, out: Part[]): void {
    const { citations, search_results } = event
    if (citations || search_results) this.#search = { citations, search_results }
    const value = others(event, known)
    if (value === undefined) return
    const text = JSON.stringify(value)
    if (text === this.#own) return
    this.#own = text
    out.push({ kind: 'own', choice: -1, block: -1, format: 'chat', value })
  }

  #of(index: unknown): ChoiceReader {
    const number = index === undefined || index === null ? 0 : index
    if (!Number.isInteger(number) || (number as number) < 0 || (number as number) >= maxChoices)
      throw tooMany('choices', maxChoices)
    let choice = this.#choices.get(number as number)
    if (choice === undefined)
      this.#choices.set(number as number, (choice = new ChoiceReader(number as number, this.#from, this.#count)))
    return choice
  }
}
