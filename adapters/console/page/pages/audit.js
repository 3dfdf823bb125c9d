import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { urlOf } from '../api.js'
import { rowTime } from '../format.js'
import { usePages } from '../load.js'
import { usePlace } from '../location.js'
import { CsvLink, RefreshButton } from '../parts/button.js'
import { clipped } from '../parts/columns.js'
import { Page } from '../parts/details.js'
import { Dialog } from '../parts/dialog.js'
import { AccountFilter, TextFilter } from '../parts/filters.js'
import { Empty } from '../parts/notice.js'
import { PeriodPicker, usePeriod } from '../parts/period.js'
import { table } from '../parts/table.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { AuditView } from '../shapes.d.ts' */

/** Who changed what. */
export function AuditPage() {
  const { range, from, to } = usePeriod()
  const { account, actor, action } = usePlace().query
  const [open, setOpen] = useState(/** @type {AuditView | undefined} */ (undefined))
  const asked = { from, to, account, actor, action }
  const { list, reload } = /** @type {Pages<AuditView>} */ (usePages('audit-log', asked))
  const actions = [
    h(PeriodPicker, { range }),
    h(RefreshButton, { onClick: reload }),
    h(CsvLink, { href: urlOf('audit-log.csv', asked) }),
  ]
  return h(
    Page,
    { title: t('page_audit'), actions },
    h(
      'div',
      { class: 'filters' },
      h(TextFilter, { name: 'actor', label: t('actor') }),
      h(TextFilter, { name: 'action', label: t('action') }),
      h(AccountFilter, null),
    ),
    table({
      caption: t('page_audit'),
      ...list,
      keyOf: ({ number }) => String(number),
      empty: h(Empty, { title: t('noChanges') }, t('noChangesHint')),
      columns: [
        {
          title: t('time'),
          head: true,
          oneLine: true,
          cell: (entry) =>
            h('button', { type: 'button', class: 'link', onClick: () => setOpen(entry) }, rowTime(entry.at)),
        },
        { title: t('action'), cell: ({ action }) => action },
        clipped(t('actor'), ({ actor }) => actor),
        clipped(t('by_account'), ({ account }) => account),
        clipped(t('target'), ({ target }) => target),
      ],
    }),
    open !== undefined && h(ChangeDialog, { entry: open, onClose: () => setOpen(undefined) }),
  )
}

/** The fields that a change has changed. @param {{ entry: AuditView, onClose: () => unknown }} properties */
function ChangeDialog({ entry, onClose }) {
  const [before, after] = [fieldsOf(entry.before), fieldsOf(entry.after)]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => before[name] !== after[name])
  return h(
    Dialog,
    { title: entry.action, onClose },
    h('p', null, `${rowTime(entry.at)} · ${entry.actor ?? '–'} ${entry.address ?? ''}`),
    entry.erased && h('p', null, t('detailsErased')),
    table({
      caption: t('changes'),
      rows: changed,
      keyOf: (name) => name,
      empty: h(Empty, { title: t('noFieldChanged') }),
      columns: [
        { title: t('field'), head: true, cell: (name) => name },
        { title: t('before'), cell: (name) => h('code', null, before[name] ?? '–') },
        { title: t('after'), cell: (name) => h('code', null, after[name] ?? '–') },
      ],
    }),
  )
}

/** @param {unknown} record @returns {Record<string, string>} */
function fieldsOf(record) {
  return Object.fromEntries(Object.entries(Object(record)).map(([name, value]) => [name, JSON.stringify(value)]))
}
