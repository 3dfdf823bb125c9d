import { h } from '../preact.js'
import { useList } from '../load.js'
import { t } from '../words.js'
import { Notice } from './notice.js'

/** @import { ConfigWarning } from '../shapes.d.ts' */

/** Likely mistakes in the options of the gateway. Nothing if there are none. */
export function Warnings() {
  const found = /** @type {readonly ConfigWarning[]} */ (useList('warnings').list.rows ?? [])
  if (found.length === 0) return null
  return h(
    Notice,
    { tone: 'warn' },
    h('h2', null, t('likelyMistakes')),
    h(
      'ul',
      null,
      ...found.map(({ where, message }) => h('li', { key: where + message }, h('code', null, where), ' ', message)),
    ),
  )
}
