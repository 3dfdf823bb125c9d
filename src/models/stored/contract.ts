import type { Json } from '../../wire/json.ts'

/** What is kept: models, groups, and prices of models from a date on. */
export type RegistryKind = 'model' | 'group' | 'price'

/** A model, a group or a price as a store keeps it. */
export interface RegistryEntry {
  /** What it is. */
  readonly kind: RegistryKind
  /** Its name, unique among those of its kind: 1 to 200 visible ASCII characters and spaces. */
  readonly id: string
  /** 1 at first, and one more with every change. */
  readonly version: number
  /** What administration has set. Absent if it was removed: the entry stays, so that its version goes on. */
  readonly value?: Json
}

/**
 * Where models, groups and prices are kept that administration creates. All processes with the same store serve them. The gateway
 * reads all entries at once, and serves from what it has read: no request waits for the store, and while it is down the last
 * state holds.
 */
export interface RegistryStore {
  /** Required. All entries, in any order, removed ones too. Must observe every `put` that resolved before. */
  all(): Promise<readonly RegistryEntry[]> | readonly RegistryEntry[]
  /**
   * Required. Adds an entry with version 1, or replaces the one with the version before; otherwise returns false and changes
   * nothing. Of several concurrent calls with the same version exactly one returns true. Must be durable before it resolves.
   */
  put(entry: RegistryEntry): Promise<boolean> | boolean
  /**
   * Recommended. Calls `changed` when any process has changed an entry, within one second. Returns the function that unsubscribes.
   * Without it, changes of other processes are seen after ten seconds.
   */
  watch?(changed: () => void): () => void
  /** Optional. Releases the store's resources. Called once by `gateway.close()`. */
  close?(): Promise<void> | void
}
