import { h } from '../preact.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration, whole } from '../format.js'
import { linkTo } from '../location.js'
import { Button } from '../parts/button.js'
import { baseUrlOf, gatewayUrl, Paste } from '../parts/clients.js'
import { TextArea } from '../parts/field.js'
import { submitting } from '../parts/form.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { curl } from '../snippets.js'
import { t } from '../words.js'
import { answers } from './answer.js'
import { bodyOf, SettingsFields, useSettings } from './settings.js'

/** @import { Message, Note } from './answer.js' */
/** @import { Settings } from './settings.js' */

/** A conversation, streamed; with another model, both side by side. @param {{ apiKey: string, model: string, models: readonly string[] }} properties */
export function Chat({ apiKey, model, models }) {
  const [threads, setThreads] = useState(/** @type {readonly Message[][]} */ ([[]]))
  const [settings, change] = useSettings()
  const [text, setText] = useState('')
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [running, setRunning] = useState(/** @type {AbortController | undefined} */ (undefined))
  useEffect(() => () => running?.abort(), [running])
  const asking = settings.other === '' || settings.other === model ? [model] : [model, settings.other]
  const shown = asking.map((_, at) => threads[at] ?? [])
  const hasBegun = shown.some(({ length }) => length > 0)

  const ask = async () => {
    const question = text.trim()
    if (question === '' || running !== undefined) return
    const stop = new AbortController()
    /** @type {Message[][]} */
    const asked = shown.map((messages) => [...messages, { role: 'user', content: question }])
    const answered = (/** @type {number} */ at, /** @type {Message} */ answer) =>
      setThreads((before) => before.map((each, nth) => (nth === at ? [...(asked[at] ?? []), answer] : each)))
    setText('')
    setError(undefined)
    setRunning(stop)
    setThreads(asked)
    const failures = await Promise.allSettled(
      asking.map(async (name, at) => {
        const body = bodyOf(name, settings, asked[at] ?? [])
        for await (const answer of answers({ apiKey, body, signal: stop.signal })) answered(at, answer)
      }),
    )
    const failed = failures.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected' && !stop.signal.aborted) setError(failed.reason)
    setRunning(undefined)
  }

  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void ask()
  }
  return h(
    'div',
    { class: 'card chat' },
    h(
      'div',
      { class: 'threads' },
      ...shown.map((messages, at) =>
        h(Conversation, {
          messages,
          busy: running !== undefined,
          key: at,
          title: asking.length > 1 ? asking[at] : undefined,
        }),
      ),
    ),
    h(ErrorNotice, { error }),
    h(
      'form',
      { onSubmit: submitting(ask) },
      h(SettingsFields, { settings, change, models }),
      h(TextArea, {
        label: t('message'),
        value: text,
        onChange: setText,
        rows: 2,
        placeholder: t('messageHint'),
        onKeyDown,
      }),
      hasBegun && running === undefined && h(Code, { model, settings, messages: shown[0] ?? [] }),
      h(
        'footer',
        null,
        hasBegun && running === undefined && h(Button, { onClick: () => setThreads([[]]) }, t('clear')),
        running === undefined
          ? h(Button, { kind: 'primary', type: 'submit' }, t('send'))
          : h(Button, { icon: 'stop', onClick: () => running.abort() }, t('stop')),
      ),
    ),
  )
}

/** The same request for a shell. @param {{ model: string, settings: Settings, messages: readonly Message[] }} properties */
function Code({ model, settings, messages }) {
  const asked = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages
  const code = curl({ baseUrl: baseUrlOf(gatewayUrl()), apiKey: 'API_KEY_HERE', body: bodyOf(model, settings, asked) })
  return h('details', null, h('summary', null, t('viewCode')), h(Paste, { name: 'curl', code }))
}

/** @param {{ messages: readonly Message[], busy: boolean, title: string | undefined }} properties */
function Conversation({ messages, busy, title }) {
  const list = useRef(/** @type {HTMLOListElement | null} */ (null))
  useEffect(() => list.current?.scrollTo(0, list.current.scrollHeight), [messages])
  if (messages.length === 0) return h(Empty, { title: t('chatEmpty') }, t('chatEmptyHint'))
  return h(
    'ol',
    {
      class: 'conversation',
      ref: list,
      'aria-live': 'polite',
      'aria-busy': busy,
      tabIndex: 0,
      'aria-label': title ?? t('conversation'),
    },
    title !== undefined && h('li', { key: 'title', class: 'speaker' }, title),
    ...messages.map(({ role, content, reasoning, note }, at) =>
      h(
        'li',
        { key: at, class: role },
        h('span', { class: 'speaker' }, t(role)),
        reasoning && h('details', null, h('summary', null, t('reasoning')), h('p', null, reasoning)),
        h('p', null, content),
        note && h(Footnote, note),
      ),
    ),
    busy &&
      messages.at(-1)?.role === 'user' &&
      h('li', { class: 'assistant waiting', key: 'waiting' }, h('span', { class: 'visually-hidden' }, t('loading'))),
  )
}

/** @param {Note} note */
export function Footnote({ requestId, firstMs, totalMs, tokens }) {
  const figures = [
    firstMs !== undefined && `${t('firstByte')} ${duration(firstMs)}`,
    `${t('total')} ${duration(totalMs)}`,
    tokens !== undefined && `${whole(tokens)} ${t('tokensShort')}`,
  ]
  return h(
    'p',
    { class: 'fine' },
    figures.filter(Boolean).join(' · '),
    ' ',
    requestId && h('a', { href: linkTo(['requests', requestId]) }, requestId),
  )
}
