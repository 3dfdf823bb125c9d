import { h } from '../preact.js'
import { get } from '../api.js'
import { duration, whole } from '../format.js'
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
