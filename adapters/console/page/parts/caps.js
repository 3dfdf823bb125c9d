import { h } from '../preact.js'
import { accountPath, get } from '../api.js'
import { compact, money, relative, whole } from '../format.js'
import { useLoad } from '../load.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { RowAction } from './button.js'
import { CapDialog, measureName } from './cap-dialog.js'
import { Card } from './details.js'
import { useDialog } from './dialog.js'
import { ErrorNotice } from './notice.js'

/** @import { CapView, GroupCap } from '../shapes.d.ts' */

const measures = /** @type {const} */ (['money', 'tokens', 'calls'])

/** The caps of the groups of the account's keys, each once. @param {string} account @param {AbortSignal} signal @returns {Promise<GroupCap[]>} */
async function load(account, signal) {
  const { items } = await get('keys', { account, state: 'active', limit: 1000 }, signal)
  const groups = new Set(/** @type {{ group: string }[]} */ (items).map(({ group }) => group))
  const found = await Promise.all(
    [...groups].map(async (group) => {
      const { items: caps } = await get(accountPath(account, 'caps'), { group }, signal)
      return /** @type {CapView[]} */ (caps).map((cap) => ({ ...cap, group }))
    }),
  )
  const caps = found.flat()
  return [...new Map(caps.map((cap) => [cap.cap, cap])).values()]
}

/** What an account uses of its caps. @param {{ account: string }} properties */
export function CapsCard({ account }) {
  const { role, readOnly } = useSession()
  const { data: caps = [], error, reload } = useLoad((signal) => load(account, signal), [account])
  const { open, setOpen, close, done } = useDialog(reload, /** @type {GroupCap | undefined} */ (undefined))
  if (error !== undefined) return h(ErrorNotice, { error })
  if (caps.length === 0) return null
  const isEditable = role === 'admin' && !readOnly
  const edit = (/** @type {GroupCap} */ cap) =>
    isEditable && !['all', 'group', 'model'].includes(cap.per) ? () => setOpen(cap) : undefined
  return h(
    Card,
    { title: t('caps') },
    h('ul', { class: 'caps' }, ...caps.map((cap) => h(Cap, { cap, onEdit: edit(cap), key: cap.cap }))),
    open && h(CapDialog, { account, cap: open, onClose: close, onSaved: () => done() }),
  )
}

/** @param {{ cap: CapView, onEdit: (() => unknown) | undefined }} properties */
function Cap({ cap: { cap, limits, used, held, resetsAt }, onEdit }) {
  const { currency } = useSession()
  const text = (/** @type {typeof measures[number]} */ measure, /** @type {string | number} */ value) =>
    measure === 'money' ? money(String(value), currency) : whole(Number(value))
  return measures
    .filter((measure) => limits[measure] !== undefined)
    .map((measure, at) => {
      const limit = Number(limits[measure])
      const spent = Number(used[measure]) + Number(held[measure])
      const label = `${cap}: ${text(measure, used[measure])} / ${text(measure, limits[measure] ?? 0)}`
      return h(
        'li',
        { key: measure },
        h(
          'p',
          null,
          h('strong', null, cap),
          ' ',
          h('small', null, measure === 'money' ? '' : measureName(measure)),
          at === 0 && onEdit && [' ', h(RowAction, { text: t('edit'), of: cap, onClick: onEdit })],
        ),
        h('progress', { max: limit || 1, value: Math.min(spent, limit), 'aria-label': label }, compact(spent)),
        h(
          'p',
          { class: 'fine' },
          `${text(measure, used[measure])} / ${text(measure, limits[measure] ?? 0)} · ${t('resets', { when: relative(resetsAt, Date.now()) })}`,
        ),
      )
    })
}
