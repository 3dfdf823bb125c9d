import type { Observer } from '../observe/observe.ts'
import type { Receipt } from '../money/receipt.ts'

/** Clients choose the names of models at open deployments. */
const most = 1_000

/** Reports what was charged without a rate of its own: each part of each model once, because all of its calls have it. */
export class UnratedUsage {
  readonly #observer: Pick<Observer, 'failure'>
  readonly #reported = new Set<string>()

  constructor(observer: Pick<Observer, 'failure'>) {
    this.#observer = observer
  }

  report({ id, model, provider = 'the vendor', providerModel = model }: Receipt, parts: readonly string[]): void {
    for (const part of parts) {
      const key = JSON.stringify([model, provider, providerModel, part])
      if (this.#reported.has(key) || this.#reported.size >= most) continue
      this.#reported.add(key)
      const fault = `${provider} (${providerModel}) counted "${part}", for which the price of the model "${model}" has no rate`
      this.#observer.failure({ id, error: new Error(`${fault}. Add it to the price. It was charged at the default.`) })
    }
  }
}
