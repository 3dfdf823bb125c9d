import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { fetchJson, get } from '../api.js'
import { useLoad } from '../load.js'
import { filter, usePlace } from '../location.js'
import { isForChat } from '../models.js'
import { CopyButton } from '../parts/copy.js'
import { Card, PageHead } from '../parts/details.js'
import { SelectField, TextField } from '../parts/field.js'
import { ErrorNotice, Loading } from '../parts/notice.js'
import { metaOf } from '../session.js'
import { inShell, snippets } from '../snippets.js'
import { t } from '../words.js'

/** @import { ModelView } from '../shapes.d.ts' */

const agents = { 'claude-code': 'Claude Code', codex: 'Codex', opencode: 'opencode', 'qwen-code': 'Qwen Code' }

export function SetupPage() {
  const [gateway, setGateway] = useState(gatewayUrl)
  const [key, setKey] = useState('')
  const { data, error, reload } = useLoad((signal) => get('models', {}, signal), [])
  const chosen = usePlace().query['model']
  const listed = /** @type {ModelView[]} */ (data?.items ?? []).map(({ id }) => id).filter(isForChat)
  const models = [...new Set(chosen ? [chosen, ...listed] : listed)]
  const baseUrl = `${gateway.trim().replace(/(?:\/v1)?\/*$/, '')}/v1`
  return h(
    'div',
    { class: 'page' },
    h(PageHead, { title: t('page_setup') }, h('p', { class: 'subtitle' }, t('setupHint'))),
    h(
      'div',
      { class: 'filters' },
      h(TextField, { label: t('gatewayUrl'), compact: true, value: gateway, onChange: setGateway, mono: true }),
      h(TextField, {
        label: t('apiKey'),
        compact: true,
        type: 'password',
        value: key,
        onChange: setKey,
        mono: true,
        placeholder: t('keyPlaceholder'),
      }),
      models.length > 0 &&
        h(SelectField, {
          label: t('by_model'),
          compact: true,
          value: models[0] ?? '',
          onChange: (model) => filter({ model }),
          options: [...models].sort().map((model) => /** @type {const} */ ([model, model])),
        }),
    ),
    h('h2', null, t('codingAgents')),
    error !== undefined && h(ErrorNotice, { error, retry: reload }),
    data === undefined ? error === undefined && h(Loading, null) : h(Agents, { baseUrl, apiKey: key.trim(), models }),
    h('h2', null, t('programs')),
    h(
      'div',
      { class: 'grid' },
      ...snippets({ baseUrl, apiKey: key.trim() || 'API_KEY_HERE', model: models[0] ?? '<MODEL>' }).map((snippet) =>
        h(Paste, { ...snippet, key: snippet.name }),
      ),
    ),
  )
}

/** @param {{ baseUrl: string, apiKey: string, models: readonly string[] }} properties */
function Agents({ baseUrl, apiKey, models }) {
  const { data, error } = useLoad(
    async (signal) => {
      const query = new URLSearchParams([['baseURL', baseUrl], ...models.map((model) => ['model', model])])
      return models.length === 0 ? { items: [] } : fetchJson(`setup?${query}`, signal)
    },
    [baseUrl, models.join()],
  )
  if (error !== undefined) return h(ErrorNotice, { error })
  if (data === undefined) return h(Loading, null)
  const items = /** @type {{ client: keyof typeof agents, paste: string, command: string }[]} */ (data.items)
  // The place of the key is inside a quoted word of the shell.
  const filled = (/** @type {string} */ paste) =>
    apiKey === '' ? paste : paste.replaceAll(data.placeholder, () => inShell(apiKey))
  return h(
    'div',
    { class: 'grid' },
    ...items.map(({ client, paste, command }) =>
      h(Paste, { name: agents[client], code: filled(paste), command, key: client }),
    ),
  )
}

/** @param {{ name: string, code: string, command?: string }} properties */
function Paste({ name, code, command }) {
  return h(
    Card,
    { title: name, actions: h(CopyButton, { text: code, label: `${t('copy')}: ${name}` }) },
    h('pre', { tabIndex: 0, role: 'region', 'aria-label': name }, code),
    command && h('p', { class: 'fine' }, t('startWith'), ' ', h('code', null, command)),
  )
}

/** Where the host says that the gateway is, or else the origin of this page. */
function gatewayUrl() {
  return new URL(metaOf('gateway-url') || '/', location.href).href.replace(/\/$/, '')
}
