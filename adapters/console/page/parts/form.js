import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { t } from '../words.js'
import { Button } from './button.js'
import { TextArea } from './field.js'

/** @import { ComponentChildren } from '../preact.js' */

/** What a form does instead of loading a page. @param {() => unknown} run */
export function submitting(run) {
  return (/** @type {Event} */ event) => {
    event.preventDefault()
    void run()
  }
}

/**
 * The texts of a form, and what the input of each takes.
 * @template {Record<string, string>} F @param {F | (() => F)} initial
 */
export function useFields(initial) {
  const [values, setValues] = useState(initial)
  const field = (/** @type {keyof F & string} */ name) => ({
    name,
    value: values[name] ?? '',
    onChange: (/** @type {string} */ value) => setValues((before) => ({ ...before, [name]: value })),
  })
  return { values, field }
}

/**
 * A prompt and one more field.
 * @param {{ prompt: string, onPrompt: (prompt: string) => unknown, busy: boolean, run: () => unknown, children?: ComponentChildren }} properties
 */
export function PromptForm({ prompt, onPrompt, busy, run, children }) {
  return h(
    'form',
    { onSubmit: submitting(run) },
    h(TextArea, { label: t('prompt'), value: prompt, onChange: onPrompt, required: true }),
    children,
    h('footer', null, h(Button, { kind: 'primary', type: 'submit', busy }, t('generate'))),
  )
}
