import { h } from '../preact.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../load.js'
import { StateBadge } from '../parts/badge.js'
import { Button } from '../parts/button.js'
import { TextField } from '../parts/field.js'
import { PromptForm } from '../parts/form.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { linkTo } from '../location.js'
import { t } from '../words.js'
import { call } from './gateway.js'

/** @typedef {{ id: string, status: string, progress?: number, error?: { message?: string } | string }} Task */

const pollMs = 2_000

/** The states of OpenAI's format by the name that they have elsewhere. @type {Readonly<Record<string, string>>} */
const names = { queued: 'pending', in_progress: 'processing' }

/** @param {{ apiKey: string, model: string }} properties */
export function VideoTrial({ apiKey, model }) {
  const [prompt, setPrompt] = useState('')
  const [seconds, setSeconds] = useState('')
  const [task, setTask] = useState(/** @type {Task | undefined} */ (undefined))
  const alive = useRef(true)
  useEffect(() => () => void (alive.current = false), [])
  const { run, busy, error } = useAction(async () => {
    setTask(undefined)
    const body = { model, prompt, ...(seconds !== '' && { seconds }) }
    let current = await (await call('videos', { apiKey, body })).json()
    while (alive.current) {
      setTask(current)
      if (current.status === 'completed' || current.status === 'failed') return
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      current = await (await call(`videos/${encodeURIComponent(current.id)}`, { apiKey, method: 'GET' })).json()
    }
  })
  return h(
    'div',
    { class: 'card trial' },
    h(
      PromptForm,
      { prompt, onPrompt: setPrompt, busy, run },
      h(TextField, {
        label: t('unit_seconds'),
        value: seconds,
        onChange: setSeconds,
        type: 'number',
        min: '1',
        placeholder: t('default'),
      }),
    ),
    h(ErrorNotice, { error }),
    task === undefined
      ? error === undefined && h(Empty, { title: t('videoEmpty') }, t('videoEmptyHint'))
      : h(Progress, { task, apiKey, key: task.id }),
  )
}

/** @param {{ task: Task, apiKey: string }} properties */
function Progress({ task: { id, status, progress, error }, apiKey }) {
  const message = typeof error === 'string' ? error : error?.message
  return h(
    'div',
    { class: 'film' },
    h(
      'p',
      { role: 'status' },
      h(StateBadge, { state: names[status] ?? status }),
      ' ',
      progress !== undefined && status !== 'completed' && `${Math.round(progress)} %`,
    ),
    message && h('p', { class: 'notice danger' }, message),
    status === 'completed' && h(Film, { id, apiKey }),
    h('p', { class: 'fine' }, h('code', null, id), ' ', h('a', { href: linkTo(['videos']) }, t('page_videos'))),
  )
}

/** The film is fetched with the key, as an element cannot send one. @param {{ id: string, apiKey: string }} properties */
function Film({ id, apiKey }) {
  const [src, setSrc] = useState(/** @type {string | undefined} */ (undefined))
  const { run, busy, error } = useAction(async () => {
    const response = await call(`videos/${encodeURIComponent(id)}/content`, { apiKey, method: 'GET' })
    setSrc(URL.createObjectURL(await response.blob()))
  })
  useEffect(() => () => (src === undefined ? undefined : URL.revokeObjectURL(src)), [src])
  if (src !== undefined) return h('video', { src, controls: true, playsInline: true, 'aria-label': t('video') })
  return h('div', null, h(Button, { busy, onClick: run }, t('showVideo')), h(ErrorNotice, { error }))
}
