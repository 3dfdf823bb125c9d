import type { Deployment } from '../models/contract.ts'

/** Clients choose the model names of an open deployment, so the number of those of one provider must be bounded. */
const mostModels = 1_000

/** What a process knows of each deployment: gone with its provider, and with the other models of one that has too many. */
export class ByDeployment<Known> {
  readonly #known = new WeakMap<object, Map<string, Known>>()
  readonly #forget: (known: Known) => void

  /** `forget`: called with what is dropped because its provider has too many models. */
  constructor(forget: (known: Known) => void = () => undefined) {
    this.#forget = forget
  }

  find({ provider, model }: Pick<Deployment, 'provider' | 'model'>): Known | undefined {
    return this.#known.get(provider)?.get(model)
  }

  /** What is known, or what `make` returns. */
  of({ provider, model }: Pick<Deployment, 'provider' | 'model'>, make: () => Known): Known {
    let models = this.#known.get(provider)
    if (models === undefined) this.#known.set(provider, (models = new Map()))
    let known = models.get(model)
    if (known === undefined) {
      if (models.size >= mostModels) {
        for (const each of models.values()) this.#forget(each)
        models.clear()
      }
      models.set(model, (known = make()))
    }
    return known
  }
}
