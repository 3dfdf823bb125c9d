import { h } from '../preact.js'
import { useCallback, useState } from 'preact/hooks'
import { urlOf } from '../api.js'
import { compact, duration, rowTime } from '../format.js'
import { useEvery, usePages } from '../load.js'
import { linkTo, usePlace } from '../location.js'
import { StateBadge } from '../parts/badge.js'
import { Button, CsvLink, RefreshButton } from '../parts/button.js'
import { amounts, clipped } from '../parts/columns.js'
import { Page } from '../parts/details.js'
import { TextField } from '../parts/field.js'
import { AccountFilter, ChoiceFilter, ModelFilter, TextFilter } from '../parts/filters.js'
import { submitting } from '../parts/form.js'
import { Empty } from '../parts/notice.js'
import { OpenCalls } from '../parts/open-calls.js'
import { PeriodPicker, usePeriod } from '../parts/period.js'
import { table } from '../parts/table.js'
import { useSession } from '../session.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { Call } from '../shapes.d.ts' */

export function RequestsPage() {
  const { role, isBilled } = useSession()
  const { query } = usePlace()
  const { range, from, to } = usePeriod()
  const { account, model, key, user, tag, session, outcome, code } = query
  const [isOpen, setOpen] = useState(false)
  const isFiltered = [account, model, outcome, code, key, user, session, tag].some(Boolean)
  const isNarrow = [code, key, user, session, tag].some(Boolean)
  const asked = { from, to, account, model, key, user, tag, session, outcome, code }
  const { list, reload } = /** @type {Pages<Call>} */ (usePages('requests', asked))
  const [isLive, setLive] = useState(false)
  // Rows do not move below the eyes of somebody who reads further down.
  const look = useCallback(() => scrollY < 200 && reload(), [reload])
  const [turn, setTurn] = useState(0)
  const refresh = () => {
    setTurn(turn + 1)
    reload()
  }
  useEvery(2_000, look, isLive)
  const actions = [
    h(PeriodPicker, { range }),
    h(Button, { pressed: isLive, onClick: () => setLive(!isLive) }, t('live')),
    h(RefreshButton, { onClick: refresh }),
    h(CsvLink, { href: urlOf('requests.csv', asked) }),
  ]
  return h(
    Page,
    { title: t('page_requests'), actions },
    h(
      'div',
      { class: 'filters' },
      h(FindRequest, null),
      h(ModelFilter, null),
      role === 'admin' && h(AccountFilter, null),
      h(ChoiceFilter, {
        name: 'outcome',
        label: t('outcome'),
        options: [
          ['', t('all')],
          ['completed', t('state_completed')],
          ['failed', t('state_failed')],
          ['cancelled', t('state_cancelled')],
          ['refused', t('state_refused')],
        ],
      }),
      !isNarrow && h(Button, { pressed: isOpen, onClick: () => setOpen(!isOpen) }, t('moreFilters')),
      (isOpen || isNarrow) && [
        h(TextFilter, { name: 'code', label: t('errorCode') }),
        h(TextFilter, { name: 'key', label: t('by_key') }),
        h(TextFilter, { name: 'user', label: t('by_user') }),
        h(TextFilter, { name: 'session', label: t('by_session') }),
        h(TextFilter, { name: 'tag', label: t('by_tag') }),
      ],
    ),
    h(OpenCalls, { isLive, turn }),
    table({
      caption: t('page_requests'),
      ...list,
      keyOf: ({ id }) => id,
      empty: isFiltered
        ? h(Empty, { title: t('noRequests') }, t('noRequestsHint'))
        : h(Empty, { title: t('noRequestsYet') }, h('a', { href: linkTo(['setup']) }, t('firstRequestHint'))),
      columns: [
        {
          title: t('time'),
          head: true,
          oneLine: true,
          cell: ({ id, startedAt }) => h('a', { href: linkTo(['requests', id]) }, rowTime(startedAt)),
        },
        {
          title: t('outcome'),
          cell: (call) => [h(StateBadge, { state: call.outcome }), call.code && h('small', null, ' ', call.code)],
        },
        clipped(t('by_model'), (call) => call.model),
        role === 'admin' && clipped(t('by_account'), (call) => call.account),
        { title: t('by_endpoint'), cell: ({ endpoint }) => endpoint },
        { title: t('tokens'), numeric: true, cell: tokensOf },
        isBilled && amounts(t('cost'), ({ cost }) => cost),
        {
          title: t('firstByte'),
          numeric: true,
          cell: ({ firstByteMs }) => (firstByteMs === undefined ? '–' : duration(firstByteMs)),
        },
        { title: t('total'), numeric: true, cell: ({ totalMs }) => duration(totalMs) },
      ],
    }),
  )
}

/** @param {Call} call */
function tokensOf({ promptTokens, completionTokens }) {
  return promptTokens + completionTokens === 0 ? '–' : `${compact(promptTokens)} → ${compact(completionTokens)}`
}

/** An `x-request-id`, from a customer's mail, leads to the request. */
function FindRequest() {
  const [id, setId] = useState('')
  const find = () => {
    if (id.trim() !== '') location.hash = linkTo(['requests', id.trim()])
  }
  return h(
    'form',
    { onSubmit: submitting(find), role: 'search', 'aria-label': t('findRequest') },
    h(TextField, {
      label: t('requestId'),
      compact: true,
      type: 'search',
      mono: true,
      placeholder: 'req_…',
      value: id,
      onChange: setId,
    }),
  )
}
