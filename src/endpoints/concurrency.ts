/** Several provider calls for one request, with limited concurrency. */
import { ignore } from '../http/ignore.ts'

/**
 * Maps items with at most `atOnce` calls of `run` at the same time; the results are in the order of the items. After a
 * failure no further call starts, and the signal of the others is aborted.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  signal: AbortSignal,
  run: (item: Item, index: number, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const own = new AbortController()
  const both = AbortSignal.any([signal, own.signal])
  const results: Result[] = []
  const open = items.entries()
  const work = async () => {
    for (const [index, item] of open) {
      results[index] = await run(item, index, both)
      if (both.aborted) return
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  } catch (error) {
    own.abort(error)
    throw error
  }
  return results
}

/**
 * The values of several iterators, in the order in which they arrive. At most `atOnce` iterators are open at a time.
 */
export async function* merge<T>(
  sources: readonly (() => AsyncIterator<T>)[],
  atOnce: number,
): AsyncGenerator<T, void, void> {
  const waiting = [...sources]
  const open = new Map<AsyncIterator<T>, Promise<{ source: AsyncIterator<T>; next: IteratorResult<T> }>>()
  const pull = (source: AsyncIterator<T>) =>
    void open.set(
      source,
      source.next().then((next) => ({ source, next })),
    )
  const beginNext = () => {
    const begin = waiting.shift()
    if (begin !== undefined) pull(begin())
  }
  try {
    for (let count = 0; count < atOnce; count++) beginNext()
    while (open.size > 0) {
      const { source, next } = await Promise.race(open.values())
      if (next.done === true) {
        open.delete(source)
        beginNext()
        continue
      }
      yield next.value
      pull(source)
    }
  } finally {
    for (const [source, pending] of open) {
      pending.catch(ignore)
      void source.return?.()?.catch(ignore)
    }
  }
}
