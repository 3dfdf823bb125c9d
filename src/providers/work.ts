import type { Provider } from './contract.ts'

/** The target of a tracking proxy. It is not the provider: a proxy of a frozen object must return the original methods. */
interface Tracked {
  readonly provider: Provider
  readonly answers: unknown[]
}

const itself = Symbol('the provider behind a tracking proxy')

const tracking: ProxyHandler<Tracked> = {
  get({ provider, answers }, name) {
    if (name === itself) return provider
    const value: unknown = Reflect.get(provider, name)
    if (typeof value !== 'function') return value
    return (call: unknown): unknown => {
      const answer: unknown = Reflect.apply(value, provider, [call])
      answers.push(answer)
      return answer
    }
  },
}

/** The provider itself, for one of `Work.of`: the same object for every request. */
export function providerItself(provider: Provider): Provider {
  return (Reflect.get(provider, itself) as Provider | undefined) ?? provider
}

/**
 * Tracks the calls to providers that a request has started. A request ends as soon as its client disconnects, but a
 * provider that ignores its signal continues to work.
 */
export class Work {
  readonly #answers: unknown[] = []

  /** The provider, with all its calls tracked. */
  of(provider: Provider): Provider {
    return new Proxy<Tracked>({ provider, answers: this.#answers }, tracking) as unknown as Provider
  }

  /** Resolves when all calls have ended, at the latest after `ms`. Stops reading open streams. */
  async ended(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
      timer.unref()
    })
    await Promise.race([Promise.allSettled(this.#answers.map(finished)), late])
    clearTimeout(timer)
  }
}

/** Waits for a call, and for the current step of its generator. */
async function finished(answer: unknown): Promise<void> {
  const value = await answer
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return
  await (value as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
}
