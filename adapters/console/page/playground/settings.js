/** What a chat is asked with, beside its messages. */
import { h } from '../preact.js'
import { useEffect, useState } from 'preact/hooks'
import { SelectField, TextArea, TextField } from '../parts/field.js'
import { t } from '../words.js'

/** @import { Message } from './answer.js' */

/** Texts as they are typed. `other`: a model that answers beside the first. @typedef {{ system: string, temperature: string, maxTokens: string, effort: string, format: string, schema: string, other: string }} Settings */

/** @type {Settings} */
const none = { system: '', temperature: '', maxTokens: '', effort: '', format: '', schema: '', other: '' }

/** Settings that a reload keeps. @returns {[Settings, (change: Partial<Settings>) => unknown]} */
export function useSettings() {
  const [settings, setSettings] = useState(kept)
  useEffect(() => {
    try {
      sessionStorage.setItem('modelhatch.chat', JSON.stringify(settings))
    } catch {
      // Storage is switched off: they last as long as the page.
    }
  }, [settings])
  return [settings, (change) => setSettings((before) => ({ ...before, ...change }))]
}

/** @returns {Settings} */
function kept() {
  try {
    return { ...none, ...JSON.parse(sessionStorage.getItem('modelhatch.chat') ?? '{}') }
  } catch {
    return none
  }
}

/** The body of the request. @param {string} model @param {Settings} settings @param {readonly Pick<Message, 'role' | 'content'>[]} messages */
export function bodyOf(model, { system, temperature, maxTokens, effort, format, schema }, messages) {
  const said = messages.map(({ role, content }) => ({ role, content }))
  return {
    model,
    messages: system.trim() === '' ? said : [{ role: 'system', content: system.trim() }, ...said],
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(maxTokens !== '' && { max_completion_tokens: Number(maxTokens) }),
    ...(effort !== '' && { reasoning_effort: effort }),
    ...(format === 'json_object' && { response_format: { type: format } }),
    ...(format === 'json_schema' && {
      response_format: { type: format, json_schema: { name: 'answer', schema: parsed(schema) } },
    }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

/** A text that is no JSON is sent as it is: the gateway says what is wrong with it. @param {string} schema @returns {unknown} */
function parsed(schema) {
  try {
    return JSON.parse(schema)
  } catch {
    return schema
  }
}

/** @param {{ settings: Settings, change: (change: Partial<Settings>) => unknown, models: readonly string[] }} properties */
export function SettingsFields({ settings, change, models }) {
  const field = (/** @type {keyof Settings} */ name) => ({
    value: settings[name],
    onChange: (/** @type {string} */ value) => change({ [name]: value }),
  })
  const efforts = ['', 'low', 'medium', 'high'].map((each) => /** @type {const} */ ([each, each || t('default')]))
  return h(
    'details',
    null,
    h('summary', null, t('settings')),
    h(TextArea, { label: t('systemPrompt'), rows: 2, ...field('system') }),
    h(
      'div',
      { class: 'filters' },
      h(TextField, {
        label: t('temperature'),
        compact: true,
        type: 'number',
        min: '0',
        step: '0.1',
        ...field('temperature'),
      }),
      h(TextField, {
        label: t('maxTokens'),
        compact: true,
        type: 'number',
        min: '1',
        step: '1',
        ...field('maxTokens'),
      }),
      h(SelectField, { label: t('reasoning'), compact: true, options: efforts, ...field('effort') }),
      h(SelectField, {
        label: t('format'),
        compact: true,
        options: [
          ['', t('text')],
          ['json_object', 'JSON'],
          ['json_schema', t('jsonSchema')],
        ],
        ...field('format'),
      }),
      h(SelectField, {
        label: t('compareWith'),
        compact: true,
        options: ['', ...models].map((each) => /** @type {const} */ ([each, each || t('none')])),
        ...field('other'),
      }),
    ),
    settings.format === 'json_schema' && h(TextArea, { label: t('jsonSchema'), rows: 4, ...field('schema') }),
  )
}
