import { h } from '../preact.js'
import { useEffect } from 'preact/hooks'
import { accountPath, urlOf } from '../api.js'
import { dateTime } from '../format.js'
import { usePages } from '../load.js'
import { linkTo } from '../location.js'
import { named, t } from '../words.js'
import { Amount } from './amount.js'
import { CsvLink } from './button.js'
import { Card } from './details.js'
import { Empty } from './notice.js'
import { table } from './table.js'

/** @import { Pages } from '../load.js' */
/** @import { EntryView } from '../shapes.d.ts' */

/** The ledger entries; those of returned holds change nothing, and are in the file only. @param {{ account: string, turn: number }} properties */
export function LedgerEntries({ account, turn }) {
  const { list } = /** @type {Pages<EntryView>} */ (usePages(accountPath(account, 'entries'), {}, { turn }))
  const rows = list.rows?.filter(({ kind }) => kind !== 'release')
  const { next, loadMore, loadingMore } = list.more ?? {}
  useEffect(() => {
    if (rows?.length === 0 && next !== undefined && !loadingMore) void loadMore?.()
  }, [list.rows])
  const csv = h(CsvLink, { href: urlOf(accountPath(account, 'entries.csv')) })
  return h(
    Card,
    { title: t('ledgerEntries'), actions: csv, class: 'flush' },
    table({
      caption: t('ledgerEntries'),
      ...list,
      rows,
      keyOf: ({ number }) => String(number),
      empty: h(Empty, { title: t('noEntries') }),
      columns: [
        { title: t('time'), head: true, oneLine: true, cell: ({ at }) => dateTime(at) },
        { title: t('kind'), cell: ({ kind }) => named('entry', kind) },
        { title: t('reference'), cell: ({ kind, reference }) => h(Reference, { kind, reference }) },
        { title: t('note'), cell: ({ note }) => note ?? '' },
        {
          title: t('amount'),
          numeric: true,
          cell: ({ amount }) =>
            h('span', { class: Number(amount) > 0 ? 'positive' : undefined }, h(Amount, { value: amount })),
        },
      ],
    }),
  )
}

/** A charge leads to its request. @param {{ kind: string, reference: string }} properties */
function Reference({ kind, reference }) {
  // That of a video is the id of the video, a dot, and the request.
  const [request] = /req_[^.]+$/.exec(kind === 'settle' ? reference : '') ?? []
  const text = h('code', { class: 'clip', title: reference }, request ?? reference)
  return request === undefined ? text : h('a', { href: linkTo(['requests', reference]) }, text)
}
