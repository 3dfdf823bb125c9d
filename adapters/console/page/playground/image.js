import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { useAction } from '../load.js'
import { SelectField } from '../parts/field.js'
import { PromptForm } from '../parts/form.js'
import { Empty, ErrorNotice, Loading } from '../parts/notice.js'
import { t } from '../words.js'
import { Footnote } from './chat.js'
import { call } from './gateway.js'

/** @import { Note } from './answer.js' */
/** @typedef {{ images: { src?: string, url?: string }[], prompt: string, note: Note }} Result */

const sizes = ['', '1024x1024', '1536x1024', '1024x1536']

/** @param {{ apiKey: string, model: string }} properties */
export function ImageTrial({ apiKey, model }) {
  const [prompt, setPrompt] = useState('')
  const [size, setSize] = useState('')
  const [result, setResult] = useState(/** @type {Result | undefined} */ (undefined))
  const { run, busy, error } = useAction(async () => {
    const started = performance.now()
    const body = { model, prompt, ...(size !== '' && { size }) }
    const response = await call('images/generations', { apiKey, body })
    const { data, output_format: format = 'png' } = await response.json()
    const images = /** @type {{ b64_json?: string, url?: string }[]} */ (data).map(({ b64_json: bytes, url }) =>
      bytes === undefined
        ? url?.startsWith('data:')
          ? { src: url }
          : { ...(url && { url }) }
        : { src: `data:image/${format};base64,${bytes}` },
    )
    const note = {
      requestId: response.headers.get('x-request-id') ?? undefined,
      firstMs: undefined,
      totalMs: performance.now() - started,
      tokens: undefined,
    }
    setResult({ images, prompt, note })
  })
  return h(
    'div',
    { class: 'card trial' },
    h(
      PromptForm,
      { prompt, onPrompt: setPrompt, busy, run },
      h(SelectField, {
        label: t('size'),
        value: size,
        onChange: setSize,
        options: sizes.map((each) => /** @type {const} */ ([each, each || t('default')])),
      }),
    ),
    h(ErrorNotice, { error }),
    busy && h(Loading, null),
    !busy && result === undefined && error === undefined && h(Empty, { title: t('imageEmpty') }),
    !busy && result !== undefined && h(Pictures, result),
  )
}

/** @param {Result} result */
function Pictures({ images, prompt, note }) {
  return h(
    'div',
    { class: 'pictures' },
    ...images.map(({ src, url }) =>
      // A vendor's own URL is another origin, which the page cannot show.
      src === undefined
        ? h('p', null, h('a', { href: url ?? '', target: '_blank', rel: 'noreferrer noopener' }, t('openImage')))
        : h('img', { src, alt: prompt }),
    ),
    h(Footnote, note),
  )
}
