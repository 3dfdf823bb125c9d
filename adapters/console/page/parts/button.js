import { h } from '../preact.js'
import { t } from '../words.js'
import { Icon } from './icon.js'

/** @import { ComponentChildren } from '../preact.js' */
/** @import { IconName } from './icon.js' */

/**
 * @param {{
 *   kind?: 'primary' | 'danger' | 'quiet', icon?: IconName, type?: 'button' | 'submit', busy?: boolean, disabled?: boolean,
 *   label?: string, pressed?: boolean, onClick?: (event: MouseEvent) => unknown, children?: ComponentChildren,
 * }} properties `label`: for a button without a text.
 */
export function Button({
  kind,
  icon,
  type = 'button',
  busy = false,
  disabled = false,
  label,
  pressed,
  onClick,
  children,
}) {
  const shape = ['button', kind ?? 'plain', children === undefined && 'square'].filter(Boolean).join(' ')
  return h(
    'button',
    {
      class: shape,
      type,
      disabled,
      'aria-busy': busy,
      'aria-label': label,
      title: label,
      'aria-pressed': pressed,
      onClick: (event) => void (busy ? event.preventDefault() : onClick?.(event)),
    },
    icon && h(Icon, { name: icon }),
    children !== undefined && h('span', null, children),
  )
}

/** A link that looks like a button. @param {{ href: string, icon?: IconName, kind?: 'primary', download?: boolean, children: ComponentChildren }} properties */
export function LinkButton({ href, icon, kind, download, children }) {
  return h(
    'a',
    { class: `button ${kind ?? 'plain'}`, href, download },
    icon && h(Icon, { name: icon }),
    h('span', null, children),
  )
}

/** A list as a file. @param {{ href: string }} properties */
export function CsvLink({ href }) {
  return h(LinkButton, { href, icon: 'download', download: true }, t('csv'))
}

/** @param {{ onClick: () => unknown }} properties */
export function RefreshButton({ onClick }) {
  return h(Button, { kind: 'quiet', icon: 'refresh', label: t('refresh'), onClick })
}

/** What can be done with a row. @param {{ text: string, of: string, onClick: () => unknown }} properties `of`: the row, for a screen reader. */
export function RowAction({ text, of, onClick }) {
  return h(
    'button',
    { type: 'button', class: 'link', 'aria-label': `${text}: ${of}`, onClick: () => void onClick() },
    text,
  )
}

/**
 * Choices of which one is pressed: by its text, or by an icon.
 * @template {string} Choice
 * @param {{ label: string, choices: readonly Choice[], chosen: Choice, onChoose: (choice: Choice) => unknown, nameOf: (choice: Choice) => string, iconOf?: (choice: Choice) => IconName }} properties
 */
export function segments({ label, choices, chosen, onChoose, nameOf, iconOf }) {
  return h(
    'div',
    { class: 'segments', role: 'group', 'aria-label': label },
    ...choices.map((choice) => {
      const name = nameOf(choice)
      const properties = {
        type: /** @type {const} */ ('button'),
        'aria-pressed': choice === chosen,
        onClick: () => void onChoose(choice),
      }
      return iconOf === undefined
        ? h('button', properties, name)
        : h('button', { ...properties, 'aria-label': name, title: name }, h(Icon, { name: iconOf(choice) }))
    }),
  )
}
