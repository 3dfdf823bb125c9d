/** Data of the API in components. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { get } from './api.js'
import { place } from './location.js'

/** Of one answer of the API. */
const mostRows = 1_000

/** @import { TableProperties } from './parts/table.js' */

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
 * A list that is not paged, as a table takes it.
 * @param {string} path
 * @param {Readonly<Record<string, string | number | undefined>>} [asked] Always the same fields.
 * @returns {Pages<any>}
 */
export function useList(path, asked = {}) {
  const { data, error, loading, reload } = useLoad(
    (signal) => get(path, asked, signal),
    [path, ...Object.values(asked)],
  )
  return { list: { rows: data?.items, loading, error, retry: reload }, reload }
}

/** Acts again and again while the page is seen. @param {number} ms @param {() => unknown} act @param {boolean} [on] */
export function useEvery(ms, act, on = true) {
  useEffect(() => {
    if (!on) return undefined
    const timer = setInterval(() => document.visibilityState === 'visible' && act(), ms)
    return () => clearInterval(timer)
  }, [ms, act, on])
}

/** What was seen of a list when its page was left: it is in the entry of the history, so that Back finds it. */
function leftAt() {
  const { rows = 0, scroll = 0 } = Object(history.state)
  return { rows: Math.min(rows, mostRows), scroll }
}

const pageNow = () => place().path.join('/')
/** Does nothing once another page is shown, whose entry of the history is current. @param {string} page @param {object} seen */
function note(page, seen) {
  if (pageNow() === page) history.replaceState({ ...history.state, ...seen }, '')
}

/** Shows what was seen before, and notes what is seen now. @param {{ scroll: number }} left @param {number | undefined} rows */
function useReturn({ scroll }, rows) {
  const page = useState(pageNow)[0]
  useEffect(() => {
    if (rows === undefined) return undefined
    note(page, { rows })
    const scrolled = () => note(page, { scroll: scrollY })
    addEventListener('scrollend', scrolled)
    return () => removeEventListener('scrollend', scrolled)
  }, [rows])
  const isLoaded = rows !== undefined
  useEffect(() => {
    if (isLoaded && scroll > 0) requestAnimationFrame(() => scrollTo(0, scroll))
  }, [isLoaded])
}

/** @template T @typedef {{ list: Pick<TableProperties<T>, 'rows' | 'loading' | 'error' | 'retry' | 'more'>, reload: () => void }} Pages */

/**
 * A list that grows page by page, as a table takes it.
 * @param {string} path
 * @param {Readonly<Record<string, string | number | undefined>>} asked Always the same fields.
 * @param {{ limit?: number, turn?: number }} [options] `turn`: asks again when it changes.
 * @returns {Pages<any>}
 */
export function usePages(path, asked, { limit = 50, turn = 0 } = {}) {
  const left = useState(leftAt)[0]
  const ask = (/** @type {string | undefined} */ after, /** @type {AbortSignal[]} */ ...signal) =>
    get(path, { ...asked, limit: after === undefined ? Math.max(limit, left.rows) : limit, after }, signal[0])
  const { data, error, loading, reload } = useLoad(
    (signal) => ask(undefined, signal),
    [path, turn, ...Object.values(asked)],
  )
  const [more, setMore] = useState(
    /** @returns {{ of?: unknown, items: unknown[], next?: string | undefined, loading?: boolean, error?: unknown }} */ () => ({
      items: [],
    }),
  )
  const isCurrent = more.of === data
  const next = isCurrent ? more.next : data?.next
  const loadMore = async () => {
    const before = { of: data, items: isCurrent ? more.items : [], next }
    setMore({ ...before, loading: true })
    try {
      const page = await ask(next)
      setMore({ of: data, items: [...before.items, ...page.items], next: page.next })
    } catch (failure) {
      setMore({ ...before, error: failure })
    }
  }
  const moreError = isCurrent ? more.error : undefined
  const rows = data && (isCurrent ? [...data.items, ...more.items] : data.items)
  useReturn(left, rows?.length)
  return {
    list: {
      rows,
      loading,
      error,
      retry: reload,
      more: { next, loadMore, loadingMore: more.loading === true, moreError },
    },
    reload,
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
