/** Goes to a page, an account or a request by typing a part of its name. */
import { h } from '../preact.js'
import { useEffect, useId, useState } from 'preact/hooks'
import { useLoad } from '../load.js'
import { linkTo } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Dialog } from './dialog.js'
import { accountIds } from './filters.js'
import { submitting } from './form.js'

/** @import { Entry } from '../routes.js' */

/** Ctrl K or ⌘ K opens the palette, `/` leads to the first search field of the page. @param {() => unknown} open */
export function useShortcuts(open) {
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select')
      if (document.querySelector('dialog[open]') !== null) return
      const search = document.querySelector('main input[type=search]')
      if (key === 'k' && (ctrlKey || metaKey) && !altKey) open()
      else if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return
      else if (search instanceof HTMLElement) search.focus()
      event.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [open])
}

/** @param {{ offered: readonly Entry[], onClose: () => unknown }} properties */
export function Palette({ offered, onClose }) {
  const { role, features } = useSession()
  const id = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const text = typed.trim()
  const hasAccounts = role === 'admin' && features.accounts
  const { data: accounts = [] } = useLoad(
    async (signal) => (hasAccounts && text !== '' ? accountIds(text, signal) : []),
    [text],
  )
  const pages = offered.filter(({ name }) => t(`page_${name}`).toLowerCase().includes(text.toLowerCase()))
  const found = [
    ...pages.map(({ name }) => ({ kind: '', name: t(`page_${name}`), href: linkTo([name]) })),
    ...accounts.map((name) => ({ kind: t('by_account'), name, href: linkTo(['accounts', name]) })),
    ...(features.usage && text !== '' && !text.includes(' ')
      ? [{ kind: t('request'), name: text, href: linkTo(['requests', text]) }]
      : []),
  ]
  const chosen = Math.min(at, found.length - 1)
  const go = (/** @type {{ href: string } | undefined} */ place) => {
    if (place === undefined) return
    onClose()
    location.hash = place.href
  }
  const moved = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || found.length === 0) return
    event.preventDefault()
    setAt((chosen + step + found.length) % found.length)
  }
  return h(
    Dialog,
    { title: t('goTo'), onClose },
    h(
      'form',
      { class: 'palette', onSubmit: submitting(() => go(found[chosen])) },
      h('input', {
        type: 'search',
        role: 'combobox',
        'aria-label': t('goToHint'),
        'aria-expanded': true,
        'aria-controls': id,
        'aria-activedescendant': found.length === 0 ? undefined : `${id}-${chosen}`,
        placeholder: t('goToHint'),
        autocomplete: 'off',
        spellcheck: false,
        autofocus: true,
        value: typed,
        onInput: (event) => (setTyped(event.currentTarget.value), setAt(0)),
        onKeyDown: moved,
      }),
      h(
        'ul',
        { id, role: 'listbox', 'aria-label': t('goTo') },
        ...found.map((place, nth) =>
          h(
            'li',
            { id: `${id}-${nth}`, role: 'option', 'aria-selected': nth === chosen, onClick: () => go(place) },
            place.kind !== '' && h('small', null, place.kind, ' '),
            place.name,
          ),
        ),
      ),
    ),
  )
}
