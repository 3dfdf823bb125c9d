import type { Receipt } from '../money/receipt.ts'
import { Averages } from './averages.ts'

/** How many tokens the answers of models have, as this process has seen. */
export class UsualTokens {
  readonly #tokens = new Averages(15)

  learn({ outcome, usageSource, usage, endpoint, model }: Receipt): void {
    if (outcome !== 'completed' || usageSource !== 'reported') return
    this.#tokens.learn(`${endpoint} ${model}`, usage.completion_tokens)
  }

  /** Output tokens of a response; undefined before the first one. */
  of(endpoint: string, model: string): number | undefined {
    const tokens = this.#tokens.of(`${endpoint} ${model}`)
    return tokens === undefined ? undefined : Math.ceil(tokens)
  }
}
