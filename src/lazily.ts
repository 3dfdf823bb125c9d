/**
 * Creates a value on first use. An LRU cache allocates room for all its entries at once, which a gateway that never
 * fills it need not pay for.
 */
export function lazily<T>(create: () => T): () => T {
  let value: T | undefined
  return () => (value ??= create())
}
