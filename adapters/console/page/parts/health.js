import { h } from '../preact.js'
import { get } from '../api.js'
import { duration, relative, whole } from '../format.js'
import { useLoad } from '../load.js'
import { t } from '../words.js'
import { Badge } from './badge.js'
import { Card } from './details.js'
import { ErrorNotice } from './notice.js'

/** @import { HealthView } from '../shapes.d.ts' */

/** The state of the process that responds, and of the stores. */
export function HealthCard() {
  const { data, error, reload } = useLoad((signal) => get('health', {}, signal), [])
  if (error !== undefined) return h(ErrorNotice, { error, retry: reload })
  const health = /** @type {HealthView | undefined} */ (data)
  if (health === undefined) return null
  const queued = Object.values(health.queues).reduce((sum, count) => sum + count, 0)
  const state = health.draining ? t('draining') : health.ready ? t('ready') : t('notReady')
  const figures = [
    [t('openCalls'), health.openCalls],
    [t('queued'), queued],
    [t('tasksDue'), health.tasksDue],
    [t('droppedRecords'), health.droppedRecords],
  ]
  return h(
    Card,
    { title: t('health'), actions: h(Badge, { tone: health.ready ? 'ok' : 'danger' }, state), class: 'health' },
    h(
      'dl',
      null,
      ...figures.map(
        ([name, count]) =>
          typeof count === 'number' && h('div', null, h('dt', null, name), h('dd', null, whole(count))),
      ),
    ),
    health.export && h(ExportLine, { state: health.export }),
    h(
      'ul',
      { 'aria-label': t('stores') },
      ...health.stores.map(({ store, reachable, ms, lastError }) => {
        const tone = reachable ? 'ok' : 'danger'
        const text = reachable ? `${store}: ${duration(ms)}` : t('unreachable', { store, code: lastError?.code ?? '–' })
        return h('li', { key: store }, h(Badge, { tone }, text))
      }),
    ),
  )
}

/** What this process has sent to the sink of charges. @param {{ state: NonNullable<HealthView['export']> }} properties */
function ExportLine({ state: { waiting, sentAt, refusedAt } }) {
  const now = Date.now()
  const parts = [
    sentAt && t('exportSent', { when: relative(sentAt, now) }),
    refusedAt && t('exportRefused', { when: relative(refusedAt, now) }),
    waiting > 0 && t('exportWaiting', { count: whole(waiting) }),
  ].filter(Boolean)
  const tone = waiting > 0 ? 'danger' : 'ok'
  return h('p', null, h(Badge, { tone }, t('exportOf')), ' ', parts.join(' · ') || t('exportNone'))
}
