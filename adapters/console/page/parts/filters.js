/** Filters whose choice is in the address. */
import { h } from '../preact.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { get } from '../api.js'
import { useLoad } from '../load.js'
import { filter, usePlace } from '../location.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { SelectField, TextField } from './field.js'

/** @import { AccountView, ModelView } from '../shapes.d.ts' */

export function ModelFilter() {
  const { query } = usePlace()
  const { data } = useLoad((signal) => get('models', {}, signal), [])
  const chosen = query['model'] ?? ''
  const listed = /** @type {ModelView[]} */ (data?.items ?? []).map(({ id }) => id)
  const names = chosen === '' || listed.includes(chosen) ? listed : [chosen, ...listed]
  return h(ChoiceFilter, {
    name: 'model',
    label: t('by_model'),
    options: [['', t('all')], ...names],
  })
}

/** @param {{ name: 'model' | 'outcome' | 'state', label: string, usual?: string, options: Parameters<typeof SelectField>[0]['options'] }} properties */
export function ChoiceFilter({ name, label, usual = '', options }) {
  const value = usePlace().query[name] ?? usual
  return h(SelectField, { label, compact: true, value, onChange: (chosen) => filter({ [name]: chosen }), options })
}

/** What is divided by. @param {{ by: string, offered: readonly ('model' | 'provider' | 'providerModel' | 'key' | 'account' | 'user' | 'tag' | 'endpoint' | 'group' | 'day')[] }} properties */
export function GroupFilter({ by, offered }) {
  return h(SelectField, {
    label: t('groupBy'),
    compact: true,
    value: by,
    onChange: (value) => filter({ by: value }),
    options: offered.map((each) => /** @type {const} */ ([each, t(`by_${each}`)])),
  })
}

/** With suggestions: the accounts whose id begins with what is typed. */
export function AccountFilter() {
  const { features } = useSession()
  return h(TextFilter, { name: 'account', label: t('by_account'), ...(features.accounts && { suggest: accountIds }) })
}

/** @param {string} prefix @param {AbortSignal} signal @returns {Promise<string[]>} */
export async function accountIds(prefix, signal) {
  const { items } = await get('accounts', { prefix, limit: 8 }, signal)
  return /** @type {AccountView[]} */ (items).map(({ id }) => id)
}

/**
 * A text that filters when typing pauses.
 * @param {{
 *   name: 'account' | 'key' | 'user' | 'tag' | 'session' | 'text' | 'code' | 'actor' | 'action' | 'prefix', label: string,
 *   suggest?: (text: string, signal: AbortSignal) => Promise<string[]>,
 * }} properties
 */
export function TextFilter({ name, label, suggest }) {
  const chosen = usePlace().query[name] ?? ''
  const [value, setValue] = useState(chosen)
  // What this field last put into the address: when it comes back from there, the field may hold more already.
  const filtered = useRef(chosen)
  useEffect(() => {
    if (chosen === filtered.current) return
    filtered.current = chosen
    setValue(chosen)
  }, [chosen])
  useEffect(() => {
    const text = value.trim()
    if (text === filtered.current) return undefined
    const timer = setTimeout(() => {
      filtered.current = text
      filter({ [name]: text })
    }, 300)
    return () => clearTimeout(timer)
  }, [value])
  const { data: suggestions } = useLoad(
    async (signal) => (value.trim() === '' ? undefined : suggest?.(value.trim(), signal)),
    [value],
  )
  return h(TextField, {
    label,
    compact: true,
    type: 'search',
    value,
    onChange: setValue,
    ...(suggest && { suggestions: suggestions ?? [] }),
  })
}
