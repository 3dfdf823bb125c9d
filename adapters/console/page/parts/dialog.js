import { h } from '../preact.js'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../load.js'
import { t } from '../words.js'
import { announce } from './announce.js'
import { Button } from './button.js'
import { Refusal } from './field.js'
import { submitting } from './form.js'
import { ErrorNotice } from './notice.js'

/** @import { ComponentChildren } from '../preact.js' */

/**
 * Which dialog of a page is open. `done`: closes it, says what was done, and loads anew what it has changed.
 * @template Open @param {() => unknown} reload @param {Open} none
 */
export function useDialog(reload, none) {
  const [open, setOpen] = useState(none)
  const close = () => setOpen(none)
  const done = (said = t('saved')) => {
    announce(said)
    close()
    reload()
  }
  return { open, setOpen, close, done }
}

/**
 * The browser's own modal dialog: it keeps the focus inside, closes with Escape and gives the focus back.
 * @param {{ title: string, onClose: () => unknown, wide?: boolean, children?: ComponentChildren }} properties
 */
export function Dialog({ title, onClose, wide = false, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  const id = useId()
  // Before anything else can take the focus; and an element outside of an open dialog cannot get it.
  useLayoutEffect(() => {
    const opener = document.activeElement
    const element = dialog.current
    element?.showModal()
    return () => {
      element?.close()
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  const cancelled = (/** @type {Event} */ event) => {
    event.preventDefault()
    onClose()
  }
  return h(
    'dialog',
    { ref: dialog, class: wide ? 'wide' : undefined, 'aria-labelledby': id, onCancel: cancelled },
    h(
      'header',
      null,
      h('h2', { id }, title),
      h(Button, { kind: 'quiet', icon: 'close', label: t('close'), onClick: onClose }),
    ),
    children,
  )
}

/**
 * A dialog with fields and one action, which runs one at a time.
 * @param {{
 *   title: string, action: string, danger?: boolean, submit: () => Promise<unknown>, onClose: () => unknown,
 *   children?: ComponentChildren,
 * }} properties
 */
export function FormDialog({ title, action, danger = false, submit, onClose, children }) {
  const { run, busy, error } = useAction(submit)
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const [isSaid, setSaid] = useState(false)
  useLayoutEffect(() => {
    if (error === undefined) return
    const refused = /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector('[aria-invalid]'))
    refused?.closest('details')?.setAttribute('open', '')
    refused?.focus()
    setSaid(Boolean(refused))
    // A form can be longer than the screen.
    if (!refused) form.current?.lastElementChild?.scrollIntoView()
  }, [error])
  return h(
    Dialog,
    { title, onClose },
    h(
      'form',
      { onSubmit: submitting(run), ref: form },
      h(Refusal.Provider, { value: error }, h('div', { class: 'fields' }, children)),
      !isSaid && h(ErrorNotice, { error }),
      h(
        'footer',
        null,
        h(Button, { onClick: onClose }, t('cancel')),
        h(Button, { kind: danger ? 'danger' : 'primary', type: 'submit', busy }, action),
      ),
    ),
  )
}
