import { h } from '../preact.js'
import { useEffect, useState } from 'preact/hooks'

const announced = 'modelhatch:announced'

/** Shows a short text for a while and has it read out, such as "Saved". @param {string} text */
export function announce(text) {
  document.dispatchEvent(new CustomEvent(announced, { detail: text }))
}

export function Announcements() {
  const [text, setText] = useState('')
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    const heard = (/** @type {Event} */ event) => {
      setText(String(/** @type {CustomEvent} */ (event).detail))
      clearTimeout(timer)
      timer = setTimeout(() => setText(''), 5_000)
    }
    document.addEventListener(announced, heard)
    return () => {
      clearTimeout(timer)
      document.removeEventListener(announced, heard)
    }
  }, [])
  return h('div', { class: 'announcements', role: 'status', 'aria-live': 'polite' }, text && h('p', null, text))
}
