/** One poll that tells of changed keys and of changed models, groups and prices, so that a database is asked once for both. */
import { pollForChanges, type KeyChanges } from './polling.ts'

/** The name of a change of the registry among the hashes of keys. */
export const registryChange = 'registry'

/** What is watched at the moment. */
export interface Watched {
  readonly keys: boolean
  readonly registry: boolean
}

/** Polls while something is watched, and asks only about that. */
export class ChangePoll {
  readonly #query: (since: string | undefined, watched: Watched) => Promise<KeyChanges>
  readonly #ofKeys = new Set<(hash: string) => void>()
  readonly #ofRegistry = new Set<() => void>()
  #end: (() => void) | undefined

  constructor(query: (since: string | undefined, watched: Watched) => Promise<KeyChanges>) {
    this.#query = query
  }

  /** `KeyStore.watch`. */
  watchKeys(changed: (hash: string) => void): () => void {
    return this.#watch(this.#ofKeys, (hash) => changed(hash))
  }

  /** `RegistryStore.watch`. */
  watchRegistry(changed: () => void): () => void {
    return this.#watch(this.#ofRegistry, () => changed())
  }

  #watch<Changed>(watchers: Set<Changed>, changed: Changed): () => void {
    watchers.add(changed)
    this.#end ??= pollForChanges(
      (name) => this.#tell(name),
      (since) => this.#query(since, { keys: this.#ofKeys.size > 0, registry: this.#ofRegistry.size > 0 }),
    )
    return () => {
      watchers.delete(changed)
      if (this.#ofKeys.size + this.#ofRegistry.size > 0) return
      this.#end?.()
      this.#end = undefined
    }
  }

  #tell(name: string): void {
    if (name === registryChange) for (const changed of this.#ofRegistry) changed()
    else for (const changed of this.#ofKeys) changed(name)
  }
}
