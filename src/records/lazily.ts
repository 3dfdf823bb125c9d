/**
 * Creates a value on first use. An LRU cache allocates memory for its maximum size at once, which a gateway that never
 * uses it should not pay for.
 */
export function lazily<T>(create: () => T): () => T {
  let value: T | undefined
  return () => (value ??= create())
}
