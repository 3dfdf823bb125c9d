import { h } from '../preact.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { duration, whole } from '../format.js'
import { linkTo } from '../location.js'
import { Button } from '../parts/button.js'
import { TextArea } from '../parts/field.js'
import { submitting } from '../parts/form.js'
import { Empty, ErrorNotice } from '../parts/notice.js'
import { t } from '../words.js'
import { answers } from './answer.js'

/** @import { Message, Note } from './answer.js' */

/** A conversation, streamed. @param {{ apiKey: string, model: string }} properties */
export function Chat({ apiKey, model }) {
  const [messages, setMessages] = useState(/** @type {Message[]} */ ([]))
  const [system, setSystem] = useState('')
  const [text, setText] = useState('')
  const [error, setError] = useState(/** @type {unknown} */ (undefined))
  const [running, setRunning] = useState(/** @type {AbortController | undefined} */ (undefined))
  useEffect(() => () => running?.abort(), [running])

  const ask = async () => {
    const question = text.trim()
    if (question === '' || running !== undefined) return
    const stop = new AbortController()
    const asked = [...messages, /** @type {Message} */ ({ role: 'user', content: question })]
    setText('')
    setError(undefined)
    setRunning(stop)
    setMessages(asked)
    try {
      const given = { apiKey, model, system: system.trim(), messages: asked, signal: stop.signal }
      for await (const answer of answers(given)) setMessages([...asked, answer])
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure)
    }
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
    h(Conversation, { messages, busy: running !== undefined }),
    h(ErrorNotice, { error }),
    h(
      'form',
      { onSubmit: submitting(ask) },
      h(
        'details',
        null,
        h('summary', null, t('systemPrompt')),
        h(TextArea, { label: t('systemPrompt'), value: system, onChange: setSystem, rows: 2 }),
      ),
      h(TextArea, {
        label: t('message'),
        value: text,
        onChange: setText,
        rows: 2,
        placeholder: t('messageHint'),
        onKeyDown,
      }),
      h(
        'footer',
        null,
        messages.length > 0 && running === undefined && h(Button, { onClick: () => setMessages([]) }, t('clear')),
        running === undefined
          ? h(Button, { kind: 'primary', type: 'submit' }, t('send'))
          : h(Button, { icon: 'stop', onClick: () => running.abort() }, t('stop')),
      ),
    ),
  )
}

/** @param {{ messages: readonly Message[], busy: boolean }} properties */
function Conversation({ messages, busy }) {
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
      'aria-label': t('conversation'),
    },
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
