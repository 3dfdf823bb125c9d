import { LRUCache } from 'lru-cache'
import type { Receipt } from '../money/receipt.ts'

/** How many tokens the answers of models have, as this process has seen. */
export class UsualTokens {
  readonly #tokens = new LRUCache<string, number>({ max: 1_000 })

  learn({ outcome, usageSource, usage, endpoint, model }: Receipt): void {
    if (outcome !== 'completed' || usageSource !== 'reported') return
    const name = `${endpoint} ${model}`
    const now = usage.completion_tokens
    this.#tokens.set(name, ((this.#tokens.get(name) ?? now) * 15 + now) / 16)
  }

  /** Output tokens of a response; undefined before the first one. */
  of(endpoint: string, model: string): number | undefined {
    const tokens = this.#tokens.get(`${endpoint} ${model}`)
    return tokens === undefined ? undefined : Math.ceil(tokens)
  }
}
