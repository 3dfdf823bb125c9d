import { h } from '../preact.js'
import { useEffect, useState } from 'preact/hooks'
import { get } from '../api.js'
import { compact, duration } from '../format.js'
import { useEvery, useLoad } from '../load.js'
import { usePlace } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Badge } from './badge.js'
import { clipped } from './columns.js'
import { Card } from './details.js'
import { useKeyNames } from './key-names.js'
import { ErrorNotice } from './notice.js'
import { table } from './table.js'

/** @import { OpenCallView } from '../shapes.d.ts' */

/** Requests that have not ended, in the process that responds. @param {{ isLive: boolean, turn: unknown }} properties `turn`: loads again when it changes. */
export function OpenCalls({ isLive, turn }) {
  const { role } = useSession()
  const { account, model, key, user } = usePlace().query
  const { data, error, reload } = useLoad(
    async (signal) => ({ at: Date.now(), ...(await get('open-calls', { account }, signal)) }),
    [account, turn],
  )
  const wanted = Object.entries({ model, key, user }).filter(([, value]) => value)
  const items = /** @type {OpenCallView[]} */ (data?.items ?? [])
  const calls = items.filter((call) => wanted.every(([name, value]) => call[/** @type {'model'} */ (name)] === value))
  useEvery(2_000, reload, isLive || items.length > 0)
  const now = useNow(calls.length > 0)
  const nameOf = useKeyNames(
    calls.some((call) => call.key !== undefined),
    account,
  )
  if (error !== undefined) return h(ErrorNotice, { error, retry: reload })
  if (calls.length === 0 && !isLive) return null
  return h(
    Card,
    { title: `${t('openCalls')}: ${calls.length}`, class: 'flush' },
    h('p', { class: 'fine' }, t('openCallsHint')),
    calls.length > 0 &&
      table({
        caption: t('openCalls'),
        rows: calls,
        keyOf: ({ id }) => id,
        empty: h('p', null),
        columns: [
          { title: t('request'), head: true, cell: ({ id }) => h('code', { class: 'clip', title: id }, id) },
          { title: t('state'), cell: (call) => h(Badge, { tone: 'accent' }, t(stateOf(call))) },
          clipped(t('by_model'), (call) => call.model),
          role === 'admin' && clipped(t('by_account'), (call) => call.account),
          clipped(t('by_key'), (call) => call.key && nameOf(call.key)),
          role === 'admin' && {
            title: t('by_providerModel'),
            cell: ({ provider, providerModel }) => provider && `${provider} ${providerModel}`,
          },
          {
            title: t('tokens'),
            numeric: true,
            cell: ({ promptTokens, completionTokens }) => `${compact(promptTokens)} → ${compact(completionTokens)}`,
          },
          {
            title: t('age'),
            numeric: true,
            cell: ({ ageMs }) => duration(Math.floor((ageMs + Math.max(0, now - data.at)) / 1_000) * 1_000),
          },
        ],
      }),
  )
}

/** @param {OpenCallView} call */
function stateOf({ disconnected, firstByteMs }) {
  if (disconnected) return 'call_disconnected'
  return firstByteMs === undefined ? 'call_waiting' : 'call_responding'
}

/** The time, anew each second. @param {boolean} on */
function useNow(on) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!on) return undefined
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [on])
  return now
}
