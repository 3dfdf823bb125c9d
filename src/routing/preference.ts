/** Which of the deployments of equal order comes first, if the model has a preference. */
import type { Deployment, Model } from '../models/contract.ts'
import { boundedCache } from '../bounded-cache.ts'
import { usageOf, type Usage } from '../wire/usage.ts'
import { byOrder } from './attempt-order.ts'
import type { FirstContentTimes } from './first-content-times.ts'

/** Where a vendor's cache has the beginning of a conversation. */
interface Warm extends Pick<Deployment, 'provider' | 'model'> {
  readonly tokens: number
}

/** Vendors keep prompts for five minutes or longer. */
const warmMs = 300_000
const mostConversations = 10_000
/** Of models: the mean length of their answers. */
const mostModels = 1_000
/** Before the first answer of a model. */
const usualTokens = 500
/** Times within this factor of the shortest count as equal, so that conversations stay where they are. */
const equalTimes = 1.25

/** What is asked for. */
export interface Asked {
  readonly promptTokens: number
  readonly conversation: string | undefined
}

/** What was served. `usage`: undefined if the vendor did not report it. */
export interface ServedConversation extends Asked {
  readonly model: string
  readonly deployment: Pick<Deployment, 'provider' | 'model'>
  readonly usage: Usage | undefined
}

/** Orders deployments by the price of a request or by the time that they take; each process by what it has seen. */
export class Preference {
  readonly times: FirstContentTimes
  readonly #warm = boundedCache<string, Warm>(mostConversations, { ttl: warmMs })
  readonly #answers = boundedCache<string, number>(mostModels)

  constructor(times: FirstContentTimes) {
    this.times = times
  }

  /** `ordered`: in the order of attempts, which stays for what is equal. */
  order({ id, prefer }: Model, ordered: readonly Deployment[], asked: Asked): readonly Deployment[] {
    if (prefer === undefined || ordered.length < 2) return ordered
    const warm = asked.conversation === undefined ? undefined : this.#warm.get(asked.conversation)
    const ranks = prefer === 'price' ? this.#costs(id, ordered, asked, warm) : this.#delays(ordered, warm)
    const ranked = ordered.map((deployment, index) => ({ deployment, rank: ranks[index] as number }))
    ranked.sort(
      ({ deployment: left, rank }, { deployment: right, rank: other }) =>
        byOrder(left, right) || Number(rank > other) - Number(rank < other),
    )
    return ranked.map(({ deployment }) => deployment)
  }

  /** Learns where the conversation is cached, and how long the answers of the model are. */
  served({ model, deployment, conversation, promptTokens, usage }: ServedConversation): void {
    const { provider, model: named } = deployment
    const tokens = usage?.prompt_tokens ?? promptTokens
    if (conversation !== undefined) this.#warm.set(conversation, { provider, model: named, tokens })
    if (usage === undefined) return
    const mean = this.#answers.get(model) ?? usage.completion_tokens
    this.#answers.set(model, mean + (usage.completion_tokens - mean) / 10)
  }

  /** A deployment without a price comes after all others. */
  #costs(id: string, ordered: readonly Deployment[], { promptTokens }: Asked, warm: Warm | undefined): number[] {
    const usage = usageOf(promptTokens, Math.ceil(this.#answers.get(id) ?? usualTokens))
    const cached = { cached_tokens: Math.min(warm?.tokens ?? 0, promptTokens) }
    const again = { ...usage, prompt_tokens_details: cached }
    return ordered.map((each) =>
      each.price === undefined ? Infinity : Number(each.price.cost({ usage: isAt(each, warm) ? again : usage })),
    )
  }

  /** One whose time is unknown is tried. */
  #delays(ordered: readonly Deployment[], warm: Warm | undefined): number[] {
    const means = ordered.map((each) => this.times.meanMs(each))
    const enough = equalTimes * Math.min(...means.map((mean) => mean ?? Infinity))
    return ordered.map((each, index) => {
      const { [index]: mean = 0 } = means
      if (isAt(each, warm)) return -1
      return mean <= enough ? 0 : mean
    })
  }
}

function isAt({ provider, model }: Deployment, warm: Warm | undefined): boolean {
  return warm?.provider === provider && warm.model === model
}
