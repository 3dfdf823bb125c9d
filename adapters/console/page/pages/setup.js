import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { filter, usePlace } from '../location.js'
import { isForChat } from '../models.js'
import { baseUrlOf, gatewayUrl, Paste, programsFor, useAgents } from '../parts/clients.js'
import { Page } from '../parts/details.js'
import { SelectField, TextField } from '../parts/field.js'
import { ErrorNotice, Loading } from '../parts/notice.js'
import { t } from '../words.js'

/** @import { ModelView } from '../shapes.d.ts' */

export function SetupPage() {
  const [gateway, setGateway] = useState(gatewayUrl)
  const [key, setKey] = useState('')
  const { data, error, reload } = useLoad((signal) => get('models', {}, signal), [])
  const chosen = usePlace().query['model']
  const listed = /** @type {ModelView[]} */ (data?.items ?? []).map(({ id }) => id).filter(isForChat)
  const models = [...new Set(chosen ? [chosen, ...listed] : listed)]
  const baseUrl = baseUrlOf(gateway)
  return h(
    Page,
    { title: t('page_setup'), subtitle: t('setupHint') },
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
          options: models.toSorted(),
        }),
    ),
    h('h2', null, t('codingAgents')),
    error !== undefined && h(ErrorNotice, { error, retry: reload }),
    data === undefined ? error === undefined && h(Loading, null) : h(Agents, { baseUrl, apiKey: key.trim(), models }),
    h('h2', null, t('programs')),
    h(
      'div',
      { class: 'grid' },
      ...programsFor({ baseUrl, apiKey: key.trim(), model: models[0] }).map((client) =>
        h(Paste, { ...client, key: client.name }),
      ),
    ),
  )
}

/** @param {{ baseUrl: string, apiKey: string, models: readonly string[] }} properties */
function Agents(properties) {
  const { clients, error } = useAgents(properties)
  if (error !== undefined) return h(ErrorNotice, { error })
  if (clients === undefined) return h(Loading, null)
  return h('div', { class: 'grid' }, ...clients.map((client) => h(Paste, { ...client, key: client.name })))
}
