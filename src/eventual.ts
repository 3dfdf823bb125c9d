/** Values that are usually available at once and sometimes a promise. Awaiting an available value would still cost a promise. */
export type Eventual<T> = T | Promise<T>

/** Whether a value has to be waited for. */
export function isPending<T>(value: Eventual<T>): value is Promise<T> {
  return typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function'
}

/** The result of `next` for the value, synchronously if the value is available. */
export function whenReady<T, U>(value: Eventual<T>, next: (value: T) => Eventual<U>): Eventual<U> {
  return isPending(value) ? Promise.resolve(value).then(next) : next(value)
}
