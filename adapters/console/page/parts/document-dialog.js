import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { get, send } from '../api.js'
import { useLoad } from '../load.js'
import { t } from '../words.js'
import { DeploymentsField } from './deployments-field.js'
import { FormDialog } from './dialog.js'
import { TextField } from './field.js'
import { Loading } from './notice.js'
import { SchemaField, textOf, valueOf } from './schema-fields.js'

/** @import { RegistryDocument } from '../shapes.d.ts' */
/** @import { Schema } from './schema-fields.js' */
/** @typedef {'models' | 'groups'} Kind */

/** The fields that are shown first. */
const first = ['models', 'priceMultiplier', 'disabled', 'note', 'displayName', 'groups']

/**
 * Creates a model or group, or changes one. The fields are those that the API declares.
 * @param {{ kind: Kind, record?: RegistryDocument, providers: readonly string[], onClose: () => unknown, onSaved: () => unknown }} properties
 */
export function DocumentDialog({ kind, record, providers, onClose, onSaved }) {
  const document = useLoad((signal) => get('openapi.json', {}, signal), []).data
  const [id, setId] = useState(record?.id ?? '')
  const [texts, setTexts] = useState(/** @type {Record<string, string>} */ ({}))
  const [deployments, setDeployments] = useState(record?.deployments ?? [{ provider: providers[0] ?? '' }])
  const name = kind === 'models' ? 'NewRegistryModel' : 'NewRegistryGroup'
  /** @type {Record<string, Schema>} */
  const declared = document?.components.schemas[name].properties ?? {}
  const names = Object.keys(declared).filter((each) => each !== 'id' && each !== 'deployments')
  const shown = [...names.filter((each) => first.includes(each)), ...names.filter((each) => !first.includes(each))]
  const given = /** @type {Record<string, unknown>} */ ({ ...record })
  const textIn = (/** @type {string} */ each) => texts[each] ?? textOf(declared[each] ?? {}, given[each])
  const submit = async () => {
    const fields = Object.entries(texts).map(([each, text]) => {
      const value = valueOf(each, declared[each] ?? {}, text)
      return [each, value ?? (given[each] === undefined ? undefined : null)]
    })
    const body = { ...Object.fromEntries(fields), ...(kind === 'models' && { deployments }) }
    await (record === undefined
      ? send('POST', `registry/${kind}`, { id: id.trim(), ...body })
      : send('PATCH', `registry/${kind}/${encodeURIComponent(record.id)}`, { ...body, version: record.version }))
    onSaved()
  }
  const title =
    record !== undefined ? t('editTitle', { name: record.id }) : t(kind === 'models' ? 'newModel' : 'newGroup')
  const field = (/** @type {string} */ each) =>
    h(SchemaField, {
      key: each,
      name: each,
      schema: declared[each] ?? {},
      value: textIn(each),
      onChange: (text) => setTexts((before) => ({ ...before, [each]: text })),
      required: kind === 'groups' && each === 'models',
    })
  const most = shown.filter((each) => first.includes(each))
  const rest = shown.filter((each) => !first.includes(each))
  return h(
    FormDialog,
    { title, action: record === undefined ? t('create') : t('save'), submit, onClose },
    record === undefined && h(TextField, { label: t('id'), value: id, onChange: setId, required: true }),
    kind === 'models' && h(DeploymentsField, { value: deployments, providers, onChange: setDeployments }),
    document === undefined ? h(Loading, null) : most.map(field),
    h('details', null, h('summary', null, t('moreFields')), rest.map(field)),
  )
}

/** Asks before it removes. @param {{ kind: Kind, record: RegistryDocument, onClose: () => unknown, onSaved: () => unknown }} properties */
export function RemoveDialog({ kind, record, onClose, onSaved }) {
  const submit = async () => {
    const path = `registry/${kind}/${encodeURIComponent(record.id)}`
    await send('DELETE', path, undefined, { version: record.version })
    onSaved()
  }
  return h(
    FormDialog,
    { title: t('removeTitle', { name: record.id }), action: t('delete'), danger: true, submit, onClose },
    h('p', null, t('removeDocumentHint')),
  )
}
