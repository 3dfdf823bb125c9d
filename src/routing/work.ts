/**
 * The vendor's side of a call: what providers were asked and have not finished with. A call ends for its client as soon as
 * nobody wants the answer; a provider that takes no notice of its signal works on.
 */
import type { Provider } from '../providers/contract.ts'

export class Work {
  readonly #answers = new Set<unknown>()

  /** The provider, with note taken of everything it answers. */
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
    // Not a proxy of the provider itself: a frozen one would have to give its own methods.
    return new Proxy<Provider>({ name: provider.name }, { get })
  }

  /** Resolves when no provider works on any of it any more, at the latest after `ms`. Answers are read no further. */
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

/** A generator takes note of its end when the step that it is in is done. */
async function finished(answer: unknown): Promise<void> {
  const value = await answer
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return
  await (value as AsyncIterable<unknown>)[Symbol.asyncIterator]().return?.()
}
