import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, get, send } from '../api.js'
import { exactTime, whole } from '../format.js'
import { useAction } from '../load.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { Card } from './details.js'
import { TextField } from './field.js'
import { submitting } from './form.js'
import { ErrorNotice } from './notice.js'

/** @import { Block, Call, LoggedContent, Replay } from '../shapes.d.ts' */

/** @typedef {{ shown?: LoggedContent[] | undefined, replay?: Replay['replay'] }} State */

/** What was asked and answered, once it is asked for: each reading is noted. @param {{ call: Call }} properties */
export function Content({ call }) {
  const { role, readOnly, features } = useSession()
  const [{ shown, replay }, setState] = useState(/** @returns {State} */ () => ({}))
  const [model, setModel] = useState('')
  const { run, busy, error } = useAction(async (/** @type {() => Promise<State>} */ ask) => {
    const found = await ask()
    setState((before) => ({ ...before, ...found }))
  })
  if (!features.content) return null
  const path = `requests/${encodeURIComponent(call.id)}`
  const one = async () => ({ shown: [await get(`${path}/content`)] })
  const thread = async () => ({
    shown: (await get(accountPath(call.account, 'content'), { session: call.session, limit: 50 })).items,
  })
  const again = async () => ({ replay: (await send('POST', `${path}/replay`, { model })).replay })
  const mayReplay = role === 'admin' && !readOnly && shown !== undefined
  return h(
    Card,
    {
      title: t('content'),
      class: 'wide',
      actions: [
        call.session && h(Button, { busy, onClick: () => run(thread) }, t('showSession')),
        h(Button, { busy, onClick: () => run(one) }, t('showContent')),
      ],
    },
    h('p', { class: 'fine' }, t('contentHint')),
    h(ErrorNotice, { error }),
    shown?.map((each) =>
      h(
        'details',
        { key: each.id, open: each.id === call.id },
        h('summary', null, `${exactTime(each.at)} · ${each.model}${each.isWhole ? '' : ` · ${t('notWhole')}`}`),
        h(Said, { content: each }),
      ),
    ),
    mayReplay &&
      h(
        'form',
        { onSubmit: submitting(() => run(again)) },
        h(TextField, { label: t('by_model'), value: model, onChange: setModel, required: true }),
        h('footer', null, h(Button, { type: 'submit', busy }, t('replay'))),
      ),
    replay &&
      h(
        'ol',
        { class: 'conversation', 'aria-label': replay.model },
        replay.answer.choices.map(({ blocks }, at) =>
          h(Turn, { key: at, role: 'assistant', by: replay.model, blocks }),
        ),
      ),
  )
}

/** @param {{ content: LoggedContent }} properties */
function Said({ content: { request, answer, media } }) {
  return h(
    'ol',
    { class: 'conversation', tabIndex: 0, 'aria-label': t('conversation') },
    request.conversation?.turns.map(({ role, blocks }, at) => h(Turn, { key: at, role, blocks })),
    h(Json, { role: 'user', value: request.body }),
    answer.answer?.choices.map(({ blocks }, at) => h(Turn, { key: `a${at}`, role: 'assistant', blocks })),
    h(Json, { role: 'assistant', value: answer.body }),
    media.map(({ reference, type, bytes }) =>
      h('li', { key: reference, class: 'fine' }, `${type}, ${whole(bytes)} B: `, h('code', null, reference)),
    ),
  )
}

/** @param {{ role: 'system' | 'user' | 'assistant', blocks: readonly Block[], by?: string }} properties */
function Turn({ role, blocks, by }) {
  return h(
    'li',
    { class: role },
    h('span', { class: 'speaker' }, by ?? speaker(role)),
    blocks.map((block, at) => h(Piece, { key: at, block })),
  )
}

/** @param {{ block: Block }} properties */
function Piece({ block }) {
  switch (block.kind) {
    case 'text':
    case 'refusal':
      return h('p', null, block.text)
    case 'reasoning':
      return block.text && h('details', null, h('summary', null, t('reasoning')), h('p', null, block.text))
    case 'call':
      return h('p', null, h('code', null, `${block.name}(${block.input})`))
    case 'result':
      return h(
        'div',
        null,
        block.blocks.map((each, at) => h(Piece, { key: at, block: each })),
      )
    case 'media':
      return h('p', null, h('code', null, textOf(block.source)))
    default:
      return h('p', null, h('code', null, textOf(block.value)))
  }
}

/** @param {{ role: 'user' | 'assistant', value: unknown }} properties */
function Json({ role, value }) {
  return (
    value !== undefined &&
    h('li', { class: role }, h('span', { class: 'speaker' }, speaker(role)), h('p', null, textOf(value)))
  )
}

/** @param {'system' | 'user' | 'assistant'} role */
function speaker(role) {
  return t(role === 'user' ? 'by_user' : role)
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
}
