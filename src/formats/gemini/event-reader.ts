/**
 * Reads responses of generateContent. Each event of a stream is a response with only the new parts; a whole answer is a
 * stream of one event. Source: the Gemini API reference, GenerateContentResponse.
 */
import { billed, unreadable } from '../../providers/failure.ts'
import { maxChoices, tooMany } from '../../providers/answer-bounds.ts'
import { usageOf } from '../../providers/content/usage.ts'
import type { Usage } from '../../wire/usage.ts'
import { fieldsOf, isRecord, itemsOf, stringOf, type Fields } from '../../wire/json.ts'
import { ownOf } from '../../conversation/own.ts'
import { fold } from '../../conversation/fold.ts'
import type { Answer, Part } from '../../conversation/parts.ts'
import type { EventReader, Source } from '../format.ts'
import { CandidateReader } from './candidate-reader.ts'

/** The fields of a response. An object with none of them is treated as an error. */
const fields = new Set([
  'candidates',
  'usageMetadata',
  'promptFeedback',
  'responseId',
  'modelVersion',
  'createTime',
  'modelStatus',
])
/** Models that sign texts, as Google's guide to thought signatures says. */
const signing = /gemini-(?:[3-9]|\d\d)/
const known = new Set(['candidates', 'usageMetadata', 'promptFeedback', 'responseId', 'modelVersion'])

export function readAnswer(body: Fields, from: Source): Answer {
  const reader = new GeminiEventReader(from)
  const parts: Part[] = []
  reader.read(body, parts)
  reader.end(parts)
  return fold(parts)
}

export class GeminiEventReader implements EventReader {
  /** There is no end marker: the connection ends. */
  readonly done = false
  readonly #from: Source
  readonly #candidates = new Map<number, CandidateReader>()
  readonly #count = { blocks: 0 }
  /** Searches that the vendor made for the response. */
  readonly #searches = new Set<unknown>()
  #begun = false
  #blocked: Fields | undefined
  /** The latest counters, which replace all earlier ones. */
  #counters: Fields = {}
  #usage: Usage | undefined

  constructor(from: Source) {
    this.#from = from
  }

  read(event: Fields, out: Part[]): void {
    const { error, usageMetadata, promptFeedback, candidates } = event
    if (error || !isResponse(event)) throw this.#from.failure(error ?? event)
    if (!this.#begun) this.#start(event, out)
    if (isRecord(promptFeedback)) this.#feedback(promptFeedback, out)
    const usage = usageOf(usageMetadata)
    if (usage !== undefined) {
      this.#usage = usage
      this.#counters = usageMetadata as Fields
    }
    try {
      for (const each of itemsOf(candidates)) if (isRecord(each)) this.#candidate(each, out)
    } catch (thrown) {
      // What the model has written is billed, also if it is of no use.
      if (usage !== undefined) this.#counted(out)
      throw isBilled(thrown) ? billed(thrown, this.#usage) : thrown
    }
    if (usage !== undefined) this.#counted(out)
  }

  /** Complete only if every candidate has finished. */
  end(out: Part[]): void {
    const candidates = [...this.#candidates.values()]
    if (candidates.length === 0 && this.#blocked !== undefined) {
      const end = { reason: 'filter', own: { gemini: { promptFeedback: this.#blocked } } } as const
      out.push({ kind: 'end', choice: 0, end })
    } else if (candidates.length === 0 || candidates.some(({ ended }) => !ended)) {
      throw unreadable("the vendor's stream ended before the response was complete")
    }
    for (const candidate of candidates) candidate.end(out)
  }

  #start(event: Fields, out: Part[]): void {
    this.#begun = true
    const { responseId: id, modelVersion: model } = event
    const signsTexts = signing.test(String(model)) ? true : undefined
    const own = ownOf('gemini', event, known)
    out.push({ kind: 'start', id: stringOf(id), model: stringOf(model), signsTexts, own })
  }

  /** Of a rejected prompt, which has no candidate, or ratings alone. */
  #feedback(feedback: Fields, out: Part[]): void {
    if (typeof feedback['blockReason'] === 'string') this.#blocked = feedback
    else out.push({ kind: 'own', choice: -1, block: -1, format: 'gemini', value: { promptFeedback: feedback } })
  }

  #candidate(raw: Fields, out: Part[]): void {
    const { webSearchQueries: queries } = fieldsOf(raw['groundingMetadata'])
    for (const query of itemsOf(queries)) this.#searches.add(query)
    const index = Number.isSafeInteger(raw['index']) ? Math.max(0, raw['index'] as number) : 0
    if (index >= maxChoices) throw tooMany('choices', maxChoices)
    let candidate = this.#candidates.get(index)
    if (candidate === undefined)
      this.#candidates.set(index, (candidate = new CandidateReader(index, this.#from.maker, this.#count)))
    candidate.read(raw, out)
  }

  #counted(out: Part[]): void {
    const { size } = this.#searches
    const usage = this.#usage as Usage
    const whole = size === 0 ? usage : { ...usage, server_tool_use: { web_search_requests: size } }
    out.push({ kind: 'usage', usage: whole, counters: this.#counters })
  }
}

function isResponse(event: Fields): boolean {
  for (const name in event) if (fields.has(name)) return true
  return false
}

function isBilled(thrown: unknown): boolean {
  return (thrown as { billed?: unknown }).billed !== undefined
}
