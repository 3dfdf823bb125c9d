/**
 * Translates responses of generateContent to chat chunks. Each event of a stream is a response with only the new parts.
 * Source: the Gemini API reference, GenerateContentResponse.
 */
import { billed, ProviderError, unreadable } from '../failure.ts'
import type { ChatChunk, ChunkChoice } from '../../wire/chat.ts'
import type { Usage } from '../../wire/usage.ts'
import { Candidate, type CandidateOptions } from './candidate.ts'
import { usageOf } from './usage.ts'
import { type Fields, isRecord } from '../../wire/json.ts'

/** The fields of a response. An object with none of them is treated as an error. */
const fields = [
  'candidates',
  'usageMetadata',
  'promptFeedback',
  'responseId',
  'modelVersion',
  'createTime',
  'modelStatus',
]

export interface ReaderOptions extends CandidateOptions {
  /** Converts an error inside the stream to the error to throw. */
  readonly failure: (error: unknown) => Error
}

export class ResponseReader {
  readonly #options: ReaderOptions
  readonly #candidates = new Map<number, Candidate>()
  #id = ''
  #model = ''
  /** The latest usage, which replaces all earlier ones. */
  #usage: Usage | undefined
  /** Searches that the vendor made for the response. */
  readonly #searches = new Set<unknown>()
  #blocked = false

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Emits one chunk for all responses that arrived together, and then throws the first error among them. */
  *push(responses: readonly unknown[]): Generator<ChatChunk> {
    const choices: ChunkChoice[] = []
    let failure: unknown
    try {
      for (const response of responses) {
        if (response instanceof Error) throw response
        if (isRecord(response)) this.#response(response, choices)
      }
    } catch (error) {
      failure = error
    }
    if (choices.length > 0 || (failure !== undefined && this.#usage !== undefined)) yield this.#chunk(choices)
    if (failure instanceof ProviderError && failure.billed !== undefined) throw billed(failure, this.#usage)
    if (failure !== undefined) throw failure
  }

  /** The connection has ended. The stream has no end marker, so it is complete only if every candidate has finished. */
  *end(): Generator<ChatChunk> {
    const choices: ChunkChoice[] = []
    const candidates = [...this.#candidates.values()]
    if (candidates.length === 0 && this.#blocked) new Candidate(0, this.#options).refuse(choices)
    else if (candidates.length === 0 || candidates.some((candidate) => !candidate.ended)) {
      throw unreadable("the vendor's stream ended before the response was complete")
    }
    for (const candidate of candidates) candidate.finish(choices)
    yield this.#chunk(choices)
  }

  #response(response: Fields, out: ChunkChoice[]): void {
    const { error, responseId: id, modelVersion: model, usageMetadata, promptFeedback, candidates } = response
    if (error || !fields.some((name) => name in response)) throw this.#options.failure(error ?? response)
    if (typeof id === 'string') this.#id ||= id
    if (typeof model === 'string') this.#model ||= model
    this.#usage = usageOf(usageMetadata) ?? this.#usage
    if (isRecord(promptFeedback) && typeof promptFeedback['blockReason'] === 'string') this.#blocked = true
    for (const each of Array.isArray(candidates) ? candidates : []) {
      if (!isRecord(each)) continue
      const { webSearchQueries: queries } = Object(each['groundingMetadata']) as { webSearchQueries?: unknown }
      if (Array.isArray(queries)) for (const query of queries) this.#searches.add(query)
      this.#candidate(typeof each['index'] === 'number' ? each['index'] : 0).accept(each, out)
    }
  }

  #candidate(index: number): Candidate {
    let candidate = this.#candidates.get(index)
    if (candidate === undefined) this.#candidates.set(index, (candidate = new Candidate(index, this.#options)))
    return candidate
  }

  #chunk(choices: ChunkChoice[]): ChatChunk {
    const head = { id: this.#id, model: this.#model, choices }
    if (this.#usage === undefined) return head
    const searches = this.#searches.size
    const usage = searches === 0 ? this.#usage : { ...this.#usage, server_tool_use: { web_search_requests: searches } }
    return { ...head, usage }
  }
}
