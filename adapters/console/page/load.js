/** Data of the API in components. */
import { useCallback, useEffect, useState } from 'preact/hooks'

/**
 * Asks again when an input changes. Data of the question before stays until the answer is there.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {readonly unknown[]} inputs
 */
export function useLoad(ask, inputs) {
  const [state, setState] = useState(
    /** @returns {{ data?: T, error?: unknown, loading: boolean }} */ () => ({ loading: true }),
  )
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const stop = new AbortController()
    setState(({ data }) => ({ loading: true, ...(data !== undefined && { data }) }))
    const settled = (/** @type {typeof state} */ next) => stop.signal.aborted || setState(next)
    ask(stop.signal).then(
      (data) => settled({ data, loading: false }),
      (error) => settled({ error, loading: false }),
    )
    return () => stop.abort()
  }, [...inputs, turn])
  const reload = useCallback(() => setTurn((count) => count + 1), [])
  return { ...state, reload }
}

/**
 * A list that grows page by page.
 * @template T
 * @param {(after: string | undefined, signal?: AbortSignal) => Promise<{ items: T[], next?: string }>} ask
 * @param {readonly unknown[]} inputs
 */
export function usePages(ask, inputs) {
  const first = useLoad((signal) => ask(undefined, signal), inputs)
  const [more, setMore] = useState(
    /** @returns {{ of?: unknown, items: T[], next?: string | undefined, loading?: boolean, error?: unknown }} */ () => ({
      items: [],
    }),
  )
  const isCurrent = more.of === first.data
  const next = isCurrent ? more.next : first.data?.next
  const items = first.data && (isCurrent ? [...first.data.items, ...more.items] : first.data.items)
  const loadMore = async () => {
    const before = { of: first.data, items: isCurrent ? more.items : [], next }
    setMore({ ...before, loading: true })
    try {
      const page = await ask(next)
      setMore({ of: first.data, items: [...before.items, ...page.items], next: page.next })
    } catch (error) {
      setMore({ ...before, error })
    }
  }
  return {
    ...first,
    items,
    next,
    loadMore,
    loadingMore: more.loading === true,
    moreError: isCurrent ? more.error : undefined,
  }
}

/**
 * An action of a button or form: runs one at a time.
 * @template {unknown[]} A
 * @param {(...given: A) => Promise<unknown>} act
 */
export function useAction(act) {
  const [state, setState] = useState(/** @returns {{ busy: boolean, error?: unknown }} */ () => ({ busy: false }))
  const run = async (/** @type {A} */ ...given) => {
    if (state.busy) return
    setState({ busy: true })
    try {
      await act(...given)
      setState({ busy: false })
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return { ...state, run }
}
