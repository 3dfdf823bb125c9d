/**
 * Responses of generateContent → chunks of a chat. Each event of a stream is a whole response that holds what is new.
 * Source: the Gemini API reference, GenerateContentResponse.
 */
import { retrySame } from '../failure.ts'
import { isRecord } from '../reading/parts.ts'
import type { ChatChunk, ChunkChoice } from '../../wire/chat.ts'
import type { Usage } from '../../wire/usage.ts'
import { Candidate, type CandidateOptions } from './candidate.ts'
import { usageOf } from './usage.ts'

type Fields = Readonly<Record<string, unknown>>

/** Those of a response. What has none of them is none. */
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
  /** An error of the vendor inside the stream → what to throw. */
  readonly failure: (error: unknown) => Error
}

export class ResponseReader {
  readonly #options: ReaderOptions
  readonly #candidates = new Map<number, Candidate>()
  #id = ''
  #model = ''
  /** The last counts are the ones that hold, whether they are more or less than those before. */
  #usage: Usage | undefined
  #blocked = false

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** One chunk for all that arrived together, and an error only behind what came before it. */
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
    if (failure !== undefined) throw failure
  }

  /** The connection is over. The stream has no mark of its end: every candidate must have told its reason. */
  *end(): Generator<ChatChunk> {
    const choices: ChunkChoice[] = []
    const candidates = [...this.#candidates.values()]
    if (candidates.length === 0 && this.#blocked) new Candidate(0, this.#options).refuse(choices)
    else if (candidates.length === 0 || candidates.some((candidate) => !candidate.ended)) {
      throw retrySame(new Error('the vendor broke off in the middle of its answer'))
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
      if (isRecord(each)) this.#candidate(typeof each['index'] === 'number' ? each['index'] : 0).accept(each, out)
    }
  }

  #candidate(index: number): Candidate {
    let candidate = this.#candidates.get(index)
    if (candidate === undefined) this.#candidates.set(index, (candidate = new Candidate(index, this.#options)))
    return candidate
  }

  #chunk(choices: ChunkChoice[]): ChatChunk {
    return { id: this.#id, model: this.#model, choices, ...(this.#usage && { usage: this.#usage }) }
  }
}
