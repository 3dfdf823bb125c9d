import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { accountPath, get, send } from '../api.js'
import { useAction, useLoad } from '../load.js'
import { useSession } from '../session.js'
import { t } from '../words.js'
import { FormDialog } from './dialog.js'
import { CheckField, SelectField, TextField } from './field.js'

/** @import { KeyView } from '../shapes.d.ts' */

/** @typedef {Record<'account' | 'group' | 'name' | 'user' | 'tags' | 'expires' | 'requests' | 'tokens' | 'concurrent' | 'models' | 'addresses' | 'money', string>} Fields */

/** A limit that fits into a field. @param {unknown} given */
function frequency(given) {
  return typeof given === 'string' ? given : ''
}

/** @param {KeyView | undefined} record @param {string | undefined} account @param {string} group @returns {Fields} */
function fieldsOf(record, account, group) {
  return {
    account: record?.account ?? account ?? '',
    group: record?.group ?? group,
    name: record?.name ?? '',
    user: record?.user ?? '',
    tags: record?.tags?.join(', ') ?? '',
    expires: record?.expiresAt === undefined ? '' : localTime(record.expiresAt),
    requests: frequency(record?.rate?.requests),
    tokens: frequency(record?.rate?.tokens),
    concurrent: String(record?.rate?.concurrent ?? ''),
    models: record?.models?.join(', ') ?? '',
    addresses: record?.addresses?.join(', ') ?? '',
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

/** @param {string} text */
function listOf(text) {
  return text.split(/[,\s]+/).filter(Boolean)
}

/** What the API takes; null removes a field of an existing key. @param {Fields} fields @param {KeyView | undefined} record */
function bodyOf(fields, record) {
  const none = record === undefined ? undefined : null
  const list = (/** @type {string} */ text) => (text.trim() === '' ? none : listOf(text))
  const rate = {
    ...record?.rate,
    requests: fields.requests.trim() || heldOf(record?.rate?.requests),
    tokens: fields.tokens.trim() || heldOf(record?.rate?.tokens),
    concurrent: fields.concurrent.trim() === '' ? undefined : Number(fields.concurrent),
  }
  const others = record?.caps?.filter(({ name }) => name !== 'key-monthly') ?? []
  const caps =
    fields.money.trim() === ''
      ? others
      : [...others, { name: 'key-monthly', period: 'month', money: fields.money.trim() }]
  return {
    group: fields.group,
    name: fields.name.trim() || none,
    user: fields.user.trim() || none,
    tags: list(fields.tags),
    expiresAt: fields.expires === '' ? none : new Date(fields.expires).getTime(),
    rate: Object.values(rate).some((value) => value !== undefined) ? rate : none,
    models: list(fields.models),
    addresses: list(fields.addresses),
    ...((caps.length > 0 || record?.caps !== undefined) && { caps: caps.length === 0 ? none : caps }),
  }
}

/** A limit in a form that has no field here is kept. @param {unknown} given */
function heldOf(given) {
  return typeof given === 'object' ? given : undefined
}

/**
 * Creates a key, or changes one.
 * @param {{ record?: KeyView, onClose: () => unknown, onCreated?: (created: { key: string, record: KeyView }) => unknown, onSaved?: () => unknown }} properties
 */
export function KeyDialog({ record, onClose, onCreated, onSaved }) {
  const { role, account, groups: own, features } = useSession()
  const { data } = useLoad((signal) => get('groups', {}, signal), [])
  const groups = /** @type {string[]} */ (role === 'admin' ? (data?.items ?? own) : own)
  const [fields, setFields] = useState(() => fieldsOf(record, account, own[0] ?? ''))
  const [open, setOpen] = useState(false)
  const field = (/** @type {keyof Fields} */ name) => ({
    value: fields[name],
    onChange: (/** @type {string} */ value) => setFields((before) => ({ ...before, [name]: value })),
  })
  const { run, busy, error } = useAction(async () => {
    const body = bodyOf(fields, record)
    if (record === undefined)
      onCreated?.(await send('POST', accountPath(fields.account.trim(), 'keys'), open ? { ...body, open } : body))
    else {
      await send('PATCH', accountPath(record.account, 'keys', record.id), body)
      onSaved?.()
    }
  })
  const listed = groups.includes(fields.group) || fields.group === '' ? groups : [fields.group, ...groups]
  const title = record === undefined ? t('createKey') : t('editTitle', { name: record.name ?? record.prefix })
  const frequency = { pattern: '\\d{1,12}/(s|min|h|d)', mono: true }
  return h(
    FormDialog,
    { title, action: record === undefined ? t('create') : t('save'), busy, error, onSubmit: run, onClose },
    role === 'admin' &&
      record === undefined &&
      h(TextField, { label: t('by_account'), ...field('account'), required: true }),
    role === 'admin' &&
      record === undefined &&
      features.accounts &&
      h(CheckField, { label: t('openMissing'), checked: open, onChange: setOpen }),
    h(TextField, { label: t('name'), ...field('name'), placeholder: t('namePlaceholder') }),
    h(SelectField, {
      label: t('by_group'),
      ...field('group'),
      required: true,
      options: listed.map((each) => /** @type {const} */ ([each, each])),
    }),
    h(TextField, { label: t('expires'), ...field('expires'), type: 'datetime-local', hint: t('expiresHint') }),
    h(
      'details',
      { open: record?.rate !== undefined || record?.caps !== undefined || undefined },
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
      { open: record?.models !== undefined || record?.addresses !== undefined || undefined },
      h('summary', null, t('restrictions')),
      h(TextField, { label: t('page_models'), ...field('models'), hint: t('modelsHint') }),
      h(TextField, { label: t('addresses'), ...field('addresses'), hint: t('addressesHint'), mono: true }),
      h(
        'div',
        { class: 'pair' },
        h(TextField, { label: t('by_user'), ...field('user') }),
        h(TextField, { label: t('tags'), ...field('tags') }),
      ),
    ),
  )
}
