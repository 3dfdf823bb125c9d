/** Choices that outlive the page: theme and language. Never keys. */

/** @param {'theme' | 'language'} name */
export function kept(name) {
  try {
    return localStorage.getItem(`modelhatch.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** @param {'theme' | 'language'} name @param {string | undefined} value */
export function keep(name, value) {
  try {
    if (value === undefined) localStorage.removeItem(`modelhatch.${name}`)
    else localStorage.setItem(`modelhatch.${name}`, value)
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
}
