/** Counting what an answer in this format has used. */
import type { Tally } from '../../money/tally.ts'
import { usageOf } from '../../providers/content/usage.ts'
import type { GenerateContentResponse } from '../../wire/gemini.ts'
import { isRecord } from '../../wire/json.ts'
import type { Usage } from '../../wire/usage.ts'

/** Tells a meter what the events of one answer say. */
export class ContentCounter {
  readonly #meter: Tally
  /** The latest finish reason of each candidate; undefined until it has one. */
  readonly #reasons = new Map<number, string | undefined>()
  /** Searches that the vendor made. */
  readonly #searches = new Set<unknown>()
  #isBlocked = false
  #id: string | undefined
  #usage: Usage | undefined

  constructor(meter: Tally) {
    this.#meter = meter
  }

  /** Whether every candidate has ended, or the prompt was rejected. */
  get isComplete(): boolean {
    if (this.#reasons.size === 0) return this.#isBlocked
    for (const reason of this.#reasons.values()) if (reason === undefined) return false
    return true
  }

  count(event: GenerateContentResponse): void {
    const { candidates, usageMetadata, promptFeedback, responseId } = event
    this.#id ??= responseId
    if (promptFeedback?.['blockReason'] !== undefined) this.#isBlocked = true
    for (const { index = 0, finishReason, content, groundingMetadata } of candidates ?? []) {
      if (finishReason !== undefined || !this.#reasons.has(index)) this.#reasons.set(index, finishReason)
      const queries = isRecord(groundingMetadata) ? groundingMetadata['webSearchQueries'] : undefined
      if (Array.isArray(queries)) for (const query of queries as unknown[]) this.#searches.add(query)
      for (const { text, functionCall } of content?.parts ?? []) {
        if (typeof text === 'string') this.#meter.textBytes += Buffer.byteLength(text)
        else if (functionCall !== undefined) this.#meter.textBytes += Buffer.byteLength(JSON.stringify(functionCall))
      }
    }
    this.#usage = usageOf(usageMetadata) ?? this.#usage
    if (this.#usage === undefined) return
    const { size } = this.#searches
    this.#meter.usage = size === 0 ? this.#usage : { ...this.#usage, server_tool_use: { web_search_requests: size } }
    const { service_tier: tier } = this.#usage
    if (typeof tier === 'string') this.#meter.serviceTier = tier
  }

  /** The answer is complete. */
  ended(): void {
    const finishReasons = [...this.#reasons.values()].filter((reason) => reason !== undefined)
    this.#meter.watch?.answered({ id: this.#id, finishReasons })
  }
}

export function finishReasonsIn({ candidates = [] }: GenerateContentResponse): string[] {
  return candidates.flatMap(({ finishReason }) => finishReason ?? [])
}

/** Whether a whole answer is one. */
export function isComplete({ candidates, promptFeedback }: GenerateContentResponse): boolean {
  return (Array.isArray(candidates) && candidates.length > 0) || promptFeedback !== undefined
}
