import { h } from '../preact.js'
import { ApiError } from '../api.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { CopyButton } from './copy.js'

/** @import { ComponentChildren } from '../preact.js' */

/** What went wrong, with the id of the request. @param {{ error: unknown, retry?: () => unknown }} properties */
export function ErrorNotice({ error, retry }) {
  if (error === undefined) return null
  const { requestId } = error instanceof ApiError ? error : { requestId: undefined }
  return h(
    'div',
    { class: 'notice danger', role: 'alert' },
    h('p', null, messageOf(error)),
    requestId &&
      h('p', { class: 'fine' }, t('requestId'), ' ', h('code', null, requestId), h(CopyButton, { text: requestId })),
    retry && h(Button, { icon: 'refresh', onClick: retry }, t('retry')),
  )
}

/** @param {unknown} error */
function messageOf(error) {
  if (!(error instanceof ApiError)) return t('failedUnexpectedly')
  if (error.status === 0) return t('failedNetwork')
  return error.message === '' ? t('failedStatus', { status: error.status }) : error.message
}

/** A list without rows. @param {{ title: string, children?: ComponentChildren }} properties */
export function Empty({ title, children }) {
  return h('div', { class: 'empty' }, h('p', { class: 'strong' }, title), children && h('p', null, children))
}

/** @param {{ tone?: 'ok' | 'warn' | 'danger', children: ComponentChildren }} properties */
export function Notice({ tone, children }) {
  return h('div', { class: `notice ${tone ?? ''}` }, children)
}

export function Loading() {
  return h('div', { class: 'loading', role: 'status' }, h('span', { class: 'visually-hidden' }, t('loading')))
}
