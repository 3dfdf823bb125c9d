import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, get, send } from '../api.js'
import { useLoad } from '../load.js'
import { useSession } from '../session.js'
import { named, t } from '../words.js'
import { FormDialog } from './dialog.js'
import { CheckField, SelectField, TextField } from './field.js'
import { namesIn } from './schema-fields.js'

/** @import { KeyView } from '../shapes.d.ts' */

/** @typedef {Record<'account' | 'group' | 'expires' | 'requests' | 'tokens' | 'concurrent' | 'money', string> & Readonly<Record<string, string | undefined>>} Fields */
/** @typedef {readonly [name: string, schema: { type?: string }]} Declared */

/** What the form has inputs of its own for. */
const own = new Set(['open', 'group', 'name', 'expiresAt', 'rate', 'caps'])

/** The name and the other fields of a key, texts and lists of texts, as the API declares them. @param {any} document @returns {Declared[]} */
function declaredIn(document) {
  const others = Object.entries(document?.components.schemas.NewKey.properties ?? {}).filter(([name]) => !own.has(name))
  return /** @type {Declared[]} */ ([['name', {}], ...others])
}

/** @param {KeyView | undefined} record @param {string} name */
function textIn(record, name) {
  const value = /** @type {Record<string, string | string[] | undefined>} */ ({ ...record })[name] ?? ''
  return typeof value === 'string' ? value : value.join(', ')
}

/** What the API calls the fields that are not called so here. @type {Readonly<Record<string, string>>} */
const params = {
  expires: 'expiresAt',
  requests: 'rate.requests',
  tokens: 'rate.tokens',
  concurrent: 'rate.concurrent',
  money: 'caps',
}

/** A limit that fits into a field. @param {unknown} given */
function frequency(given) {
  return typeof given === 'string' ? given : ''
}

/** @param {KeyView | undefined} record @param {string | undefined} account @param {string} group @returns {Fields} */
function fieldsOf(record, account, group) {
  return {
    account: record?.account ?? account ?? '',
    group: record?.group ?? group,
    expires: record?.expiresAt === undefined ? '' : localTime(record.expiresAt),
    requests: frequency(record?.rate?.requests),
    tokens: frequency(record?.rate?.tokens),
    concurrent: String(record?.rate?.concurrent ?? ''),
    money: monthly(record)?.money ?? '',
  }
}

/** The cap that this form knows: an amount per month. @param {KeyView | undefined} record */
function monthly(record) {
  return record?.caps?.find(({ name }) => name === 'key-monthly')
}

/** For an input of a local time. @param {number} at */
function localTime(at) {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/**
 * What the API takes; null removes a field of an existing key, of which only what was changed is sent: a field may show less than there
 * is, such as a time without its seconds.
 * @param {Fields} fields @param {readonly Declared[]} declared @param {KeyView | undefined} record
 */
function bodyOf(fields, declared, record) {
  const none = record && null
  const before = record && fieldsOf(record, undefined, '')
  const isChanged = (/** @type {string[]} */ ...names) => names.some((name) => fields[name] !== before?.[name])
  const others = declared.flatMap(([name, { type }]) => {
    const text = fields[name]?.trim()
    if (text === undefined) return []
    return [[name, text === '' ? none : type === 'array' ? namesIn(text) : text]]
  })
  return {
    ...(isChanged('group') && { group: fields.group }),
    ...Object.fromEntries(others),
    ...(isChanged('expires') && { expiresAt: fields.expires === '' ? none : new Date(fields.expires).getTime() }),
    ...(isChanged('requests', 'tokens', 'concurrent') && { rate: rateOf(fields, record) ?? none }),
    ...(isChanged('money') && { caps: capsOf(fields, record) ?? none }),
  }
}

/** @param {Fields} fields @param {KeyView | undefined} record */
function rateOf({ requests, tokens, concurrent }, record) {
  /** @type {Record<string, unknown>} */
  const rate = { ...record?.rate, concurrent: Number(concurrent) || undefined }
  for (const [name, text] of Object.entries({ requests: requests.trim(), tokens: tokens.trim() })) {
    // A limit in a form that has no field here is kept.
    if (text !== '' || typeof rate[name] === 'string') rate[name] = text || undefined
  }
  return Object.values(rate).some(Boolean) ? rate : undefined
}

/** @param {Fields} fields @param {KeyView | undefined} record */
function capsOf({ money }, record) {
  const known = monthly(record)
  const others = record?.caps?.filter((cap) => cap !== known) ?? []
  const own = { ...known, name: 'key-monthly', period: 'month', money: money.trim() }
  const caps = money.trim() === '' ? others : [...others, own]
  return caps.length > 0 ? caps : undefined
}

/**
 * Creates a key, or changes one.
 * @param {{ record?: KeyView, onClose: () => unknown, onCreated?: (created: { key: string, record: KeyView }) => unknown, onSaved?: () => unknown }} properties
 */
export function KeyDialog({ record, onClose, onCreated, onSaved }) {
  const { role, account, groups: ofAccount, features } = useSession()
  const { data } = useLoad((signal) => get('groups', {}, signal), [])
  const groups = /** @type {string[]} */ (role === 'admin' ? (data?.items ?? ofAccount) : ofAccount)
  const [fields, setFields] = useState(() => fieldsOf(record, account, ofAccount[0] ?? ''))
  const declared = declaredIn(useLoad((signal) => get('openapi.json', {}, signal), []).data)
  const more = declared.slice(1)
  const [open, setOpen] = useState(false)
  const field = (/** @type {string} */ name) => ({
    name: params[name] ?? name,
    value: fields[name] ?? textIn(record, name),
    onChange: (/** @type {string} */ value) => setFields((before) => ({ ...before, [name]: value })),
  })
  const submit = async () => {
    const body = bodyOf(fields, declared, record)
    if (record === undefined)
      onCreated?.(await send('POST', accountPath(fields.account.trim(), 'keys'), open ? { ...body, open } : body))
    else {
      await send('PATCH', accountPath(record.account, 'keys', record.id), body)
      onSaved?.()
    }
  }
  const listed = groups.includes(fields.group) || fields.group === '' ? groups : [fields.group, ...groups]
  const title = record === undefined ? t('createKey') : t('editTitle', { name: record.name ?? record.prefix })
  const frequency = { pattern: '\\d{1,12}/(s|min|h|d)', mono: true }
  return h(
    FormDialog,
    { title, action: record === undefined ? t('create') : t('save'), submit, onClose },
    role === 'admin' &&
      record === undefined && [
        h(TextField, { label: t('by_account'), ...field('account'), required: true }),
        features.accounts && h(CheckField, { label: t('openMissing'), checked: open, onChange: setOpen }),
      ],
    h(TextField, { label: t('name'), ...field('name'), placeholder: t('namePlaceholder') }),
    h(SelectField, {
      label: t('by_group'),
      ...field('group'),
      required: true,
      options: listed,
    }),
    h(TextField, { label: t('expires'), ...field('expires'), type: 'datetime-local', hint: t('expiresHint') }),
    h(
      'details',
      { open: Boolean(record?.rate ?? record?.caps) },
      h('summary', null, t('limits')),
      h(
        'div',
        { class: 'pair' },
        h(TextField, { label: t('requestRate'), ...field('requests'), ...frequency, placeholder: '60/min' }),
        h(TextField, { label: t('tokenRate'), ...field('tokens'), ...frequency, placeholder: '100000/min' }),
      ),
      h(
        'div',
        { class: 'pair' },
        h(TextField, { label: t('concurrent'), ...field('concurrent'), type: 'number', min: '1' }),
        features.caps &&
          h(TextField, {
            label: t('monthlyMoney'),
            ...field('money'),
            pattern: '\\d+(\\.\\d{1,6})?',
            placeholder: '100',
          }),
      ),
    ),
    h(
      'details',
      { open: more.some(([name]) => textIn(record, name)) },
      h('summary', null, t('restrictions')),
      more.map(([name]) =>
        h(TextField, {
          label: named('key', name, named('by', name)),
          ...field(name),
          hint: named('keyHint', name, ''),
        }),
      ),
    ),
  )
}
