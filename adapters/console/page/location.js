/** The address of a page, in the fragment: `#/requests/req_1?model=demo`. Filters are in it, so that it can be passed on. */
import { useEffect, useState } from 'preact/hooks'

/** @typedef {{ path: string[], query: Record<string, string> }} Place */

/** @returns {Place} */
export function place() {
  const [path = '', search] = location.hash.replace(/^#\/?/, '').split('?', 2)
  return {
    path: path.split('/').map(decoded).filter(Boolean),
    query: Object.fromEntries(new URLSearchParams(search)),
  }
}

/** @param {string} segment */
function decoded(segment) {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

/** The link to a page. @param {readonly string[]} path @param {Readonly<Record<string, string | undefined>>} [query] */
export function linkTo(path, query = {}) {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  )
  return `#/${path.map(encodeURIComponent).join('/')}${given.length === 0 ? '' : `?${new URLSearchParams(given)}`}`
}

/** Changes the filters of the current page without a new entry in the history. @param {Readonly<Record<string, string | undefined>>} change */
export function filter(change) {
  const { path, query } = place()
  history.replaceState(null, '', linkTo(path, { ...query, ...change }))
  dispatchEvent(new Event('hashchange'))
}

export function usePlace() {
  const [current, setCurrent] = useState(place)
  useEffect(() => {
    const changed = () => setCurrent(place())
    addEventListener('hashchange', changed)
    // It may have changed between the first rendering and this effect.
    changed()
    return () => removeEventListener('hashchange', changed)
  }, [])
  return current
}
