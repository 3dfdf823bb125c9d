import { setPreference, preference } from './preferences.js'

/** @typedef {'system' | 'light' | 'dark'} Theme */

/** @returns {Theme} */
export function theme() {
  const chosen = preference('theme')
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

/** Charts draw on a canvas and listen to this event on the document. */
export const themeChanged = 'modelhatch:theme'

/** @param {Theme} chosen */
export function setTheme(chosen) {
  setPreference('theme', chosen === 'system' ? undefined : chosen)
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
  document.dispatchEvent(new Event(themeChanged))
}

/** Calls `changed` when the colours change, by choice or with the system. @param {() => void} changed */
export function followTheme(changed) {
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', changed)
  document.addEventListener(themeChanged, changed)
  return () => {
    system.removeEventListener('change', changed)
    document.removeEventListener(themeChanged, changed)
  }
}
