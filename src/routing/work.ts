import type { Provider } from '../providers/contract.ts'

/**
 * Tracks the calls to providers that a request has started. A request ends as soon as its client disconnects, but a
 * provider that ignores its signal continues to work.
 */
export class Work {
  readonly #answers = new Set<unknown>()

  /** The provider, with all its calls tracked. */
  of(provider: Provider): Provider {
    const get = (_: unknown, name: PropertyKey): unknown => {
      const value: unknown = Reflect.get(provider, name)
      if (typeof value !== 'function') return value
      return (call: unknown): unknown => {
        const answer: unknown = Reflect.apply(value, provider, [call])
        this.#answers.add(answer)
        return answer
      }
    }
    // The target is not the provider itself: a proxy of a frozen object must return the original methods.
    return new Proxy<Provider>({ name: provider.name }, { get })
  }

  /** Resolves when all calls have ended, at the latest after `ms`. Stops reading open streams. */
  async ended(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
      timer.unref()
    })
    await Promise.race([Promise.allSettled([...this.#answers].map(finished)), late])
    clearTimeout(timer)
  }
}

/** Waits for a call, and for the current step of its generator. */
async function finished(answer: unknown): Promise<void> {
  const value = await answer
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return
  await (value as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
}
