/** A value that is made when it is first asked for, so that those who never need it do not pay for it at the start. */
export function lazy<T extends {}>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
