/** What a developer pastes to set up a client: programs and coding agents. */
import { h } from '../preact.js'
import { fetchJson } from '../api.js'
import { useLoad } from '../load.js'
import { metaOf } from '../session.js'
import { inShell, snippets } from '../snippets.js'
import { t } from '../words.js'
import { CopyButton } from './copy.js'
import { Card } from './details.js'

/** @typedef {{ name: string, code: string, command?: string }} Client */

/** Where the host says that the gateway is, or else the origin of this page. */
export function gatewayUrl() {
  return new URL(metaOf('gateway-url') || '/', location.href).href.replace(/\/$/, '')
}

/** The URL that clients take. @param {string} url */
export const baseUrlOf = (url) => `${url.trim().replace(/(?:\/v1)?\/*$/, '')}/v1`

/** @param {{ baseUrl: string, apiKey: string, model: string | undefined }} values @returns {Client[]} */
export function programsFor({ baseUrl, apiKey, model = '<MODEL>' }) {
  return snippets({ baseUrl, apiKey: apiKey || 'API_KEY_HERE', model })
}

/** Each coding agent. @param {{ baseUrl: string, apiKey: string, models: readonly string[] }} values */
export function useAgents({ baseUrl, apiKey, models }) {
  const { data, error } = useLoad(
    async (signal) => {
      const query = new URLSearchParams([['baseURL', baseUrl], ...models.map((model) => ['model', model])])
      return models.length === 0 ? { items: [] } : fetchJson(`setup?${query}`, signal)
    },
    [baseUrl, models.join()],
  )
  // The place of the key is inside a quoted word of the shell.
  const filled = (/** @type {string} */ paste) =>
    apiKey === '' ? paste : paste.replaceAll(data.placeholder, () => inShell(apiKey))
  const items = /** @type {{ name: string, paste: string, command: string }[] | undefined} */ (data?.items)
  const clients = items?.map(({ name, paste, command }) => ({ name, code: filled(paste), command }))
  return { clients, error }
}

/** @param {Client} client */
export function Paste({ name, code, command }) {
  return h(
    Card,
    { title: name, actions: h(CopyButton, { text: code, label: `${t('copy')}: ${name}` }) },
    h('pre', { tabIndex: 0, role: 'region', 'aria-label': name }, code),
    command && h('p', { class: 'fine' }, t('startWith'), ' ', h('code', null, command)),
  )
}
