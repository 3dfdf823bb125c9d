import { h } from '../preact.js'
import { t } from '../words.js'
import { Button } from './button.js'
import { CheckField, SelectField, TextField } from './field.js'

/** @import { StoredDeployment } from '../shapes.d.ts' */

/**
 * What serves a model: a provider and its name for the model, or another model. Other fields of a deployment are kept.
 * @param {{ value: readonly StoredDeployment[], providers: readonly string[], onChange: (value: readonly StoredDeployment[]) => unknown }} properties
 */
export function DeploymentsField({ value, providers, onChange }) {
  const change = (/** @type {number} */ at, /** @type {StoredDeployment} */ to) => onChange(value.with(at, to))
  return h(
    'fieldset',
    null,
    h('legend', null, t('deployments')),
    ...value.map((each, at) => h(Deployment, { key: at, value: each, providers, onChange: (to) => change(at, to) })),
    h(
      'div',
      { class: 'actions' },
      h(
        Button,
        { icon: 'plus', onClick: () => onChange([...value, { provider: providers[0] ?? '' }]) },
        t('addDeployment'),
      ),
      value.length > 1 && h(Button, { onClick: () => onChange(value.slice(0, -1)) }, t('removeDeployment')),
    ),
  )
}

/** Another model is written like this. */
const ofModel = 'model:'

/** @param {{ value: StoredDeployment, providers: readonly string[], onChange: (value: StoredDeployment) => unknown }} properties */
function Deployment({ value, providers, onChange }) {
  const { provider, model, providerModel, weight, disabled, ...rest } = value
  const known = provider === undefined || providers.includes(provider) ? providers : [provider, ...providers]
  const name = provider === undefined ? (model ?? '') : (providerModel ?? '')
  const set = (/** @type {Readonly<Record<string, unknown>>} */ changed) => {
    const all = { ...rest, provider, model, providerModel, weight, disabled, ...changed }
    onChange(Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined && each !== '')))
  }
  const chosen = (/** @type {string} */ choice) =>
    choice === ofModel
      ? set({ provider: undefined, providerModel: undefined, model: name })
      : set({ provider: choice, model: undefined, providerModel: name })
  return h(
    'div',
    { class: 'fields' },
    h(SelectField, {
      label: t('by_provider'),
      value: provider ?? ofModel,
      onChange: chosen,
      options: [...known, [ofModel, t('anotherModel')]],
    }),
    h(TextField, {
      label: provider === undefined ? t('by_model') : t('vendorModel'),
      value: name,
      onChange: (text) => set(provider === undefined ? { model: text } : { providerModel: text }),
    }),
    h(TextField, {
      label: t('weightLabel'),
      type: 'number',
      min: '0',
      step: 'any',
      value: weight === undefined ? '' : String(weight),
      onChange: (text) => set({ weight: text === '' ? undefined : Number(text) }),
    }),
    h(CheckField, {
      label: t('disabled'),
      checked: disabled === true,
      onChange: (checked) => set({ disabled: checked ? true : undefined }),
    }),
  )
}
