/** Choices that outlive the page: theme and language. Never keys. */

/** @param {'theme' | 'language'} name */
export function preference(name) {
  try {
    return localStorage.getItem(`modelhatch.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** @param {'theme' | 'language'} name @param {string | undefined} value */
export function setPreference(name, value) {
  try {
    if (value === undefined) localStorage.removeItem(`modelhatch.${name}`)
    else localStorage.setItem(`modelhatch.${name}`, value)
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}
