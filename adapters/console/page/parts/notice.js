import { h } from '../preact.js'
import { ApiError, get } from '../api.js'
import { useLoad } from '../load.js'
import { metaOf } from '../session.js'
import { t } from '../words.js'
import { Button, LinkButton } from './button.js'
import { CopyButton } from './copy.js'

/** @import { ComponentChildren } from '../preact.js' */

/** What went wrong, with the id of the request. @param {{ error?: unknown, retry?: (() => unknown) | undefined }} properties */
export function ErrorNotice({ error, retry }) {
  if (error === undefined) return null
  if (error instanceof ApiError && error.status === 404) return h(NotFound, { error, retry })
  return h(Failed, { error, retry })
}

/** Something is missing, or the session has ended: then nothing is there, not even the visitor. @param {{ error: unknown, retry: (() => unknown) | undefined }} properties */
function NotFound({ error, retry }) {
  const me = useLoad((signal) => get('me', {}, signal), [error])
  if (me.loading) return h(Loading, null)
  if (!(me.error instanceof ApiError && me.error.status === 404)) return h(Failed, { error, retry })
  const url = metaOf('sign-in')
  const link = url && h(LinkButton, { href: url }, t('signIn'))
  return h('div', { class: 'notice danger', role: 'alert' }, h('p', null, t('signedOut')), link)
}

/** @param {{ error: unknown, retry: (() => unknown) | undefined }} properties */
function Failed({ error, retry }) {
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
