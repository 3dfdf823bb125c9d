/** From a new key to its first call: what to paste, and a call with it. */
import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { useAction, useLoad } from '../load.js'
import { isForChat } from '../models.js'
import { call } from '../playground/gateway.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { baseUrlOf, gatewayUrl, Paste, programsFor, useAgents } from './clients.js'
import { SelectField } from './field.js'
import { ErrorNotice, Notice } from './notice.js'

/** @param {{ apiKey: string }} properties */
export function FirstCall({ apiKey }) {
  const [chosen, setChosen] = useState('curl')
  const [answer, setAnswer] = useState('')
  const { data: models = [] } = useLoad((signal) => modelsOf(apiKey, signal), [apiKey])
  const values = { baseUrl: baseUrlOf(gatewayUrl()), apiKey, model: models[0], models }
  const { clients: agents = [] } = useAgents(values)
  const { run, busy, error } = useAction(async () => {
    setAnswer('')
    setAnswer(await greet(apiKey, models[0]))
  })
  if (models.length === 0) return null
  const clients = [...programsFor(values), ...agents]
  return [
    h(SelectField, {
      label: t('useItFrom'),
      value: chosen,
      onChange: setChosen,
      options: clients.map(({ name }) => name),
    }),
    ...clients.flatMap((client) => (client.name === chosen ? [h(Paste, { ...client, key: client.name })] : [])),
    h('p', null, h(Button, { busy, onClick: run }, t('tryIt'))),
    answer !== '' && h(Notice, { tone: 'ok' }, h('p', null, answer)),
    error !== undefined && h(ErrorNotice, { error }),
  ]
}

/** Those for chats that the key may use. @param {string} apiKey @param {AbortSignal} signal @returns {Promise<string[]>} */
async function modelsOf(apiKey, signal) {
  const { data } = await (await call('models', { apiKey, method: 'GET', signal })).json()
  return /** @type {{ id: string }[]} */ (data).map(({ id }) => id).filter((id) => isForChat(id) && !id.endsWith('*'))
}

/** @param {string} apiKey @param {string | undefined} model @returns {Promise<string>} */
async function greet(apiKey, model) {
  const body = { model, messages: [{ role: 'user', content: 'Say hello in one sentence.' }], max_tokens: 256 }
  const { choices } = await (await call('chat/completions', { apiKey, body })).json()
  return `${model}: ${choices?.[0]?.message?.content ?? ''}`
}
