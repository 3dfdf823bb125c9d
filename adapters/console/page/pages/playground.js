import { h } from '../preact.js'
import { useState } from 'preact/hooks'
import { useList } from '../load.js'
import { filter, usePlace } from '../location.js'
import { isForChat } from '../models.js'
import { segments } from '../parts/button.js'
import { Page } from '../parts/details.js'
import { SelectField } from '../parts/field.js'
import { ErrorNotice } from '../parts/notice.js'
import { Chat } from '../playground/chat.js'
import { ImageTrial } from '../playground/image.js'
import { KeyField } from '../playground/key.js'
import { VideoTrial } from '../playground/video.js'
import { t } from '../words.js'

/** @import { Pages } from '../load.js' */
/** @import { ModelView } from '../shapes.d.ts' */

const kinds = /** @type {const} */ (['chat', 'image', 'video'])

/** The API does not say what a model is for, its name mostly does. @type {Record<typeof kinds[number], (model: string) => boolean>} */
const isFor = {
  chat: isForChat,
  image: (model) => /image|dall-e|flux/i.test(model),
  video: (model) => /video|sora|veo/i.test(model),
}

/** Tries a model through the gateway, with a key that is in this variable only. */
export function PlaygroundPage() {
  const { query } = usePlace()
  const [key, setKey] = useState('')
  const { list } = /** @type {Pages<ModelView>} */ (useList('models'))
  const models = (list.rows ?? []).map(({ id }) => id)
  const kind = kinds.find((each) => each === query['kind']) ?? 'chat'
  const fitting = models.filter(isFor[kind])
  const model = query['model'] ?? fitting[0] ?? models[0] ?? ''
  const listed = model === '' || fitting.includes(model) ? fitting : [model, ...fitting]
  const trial = { apiKey: key, model, key: kind }
  const actions = segments({
    label: t('kind'),
    choices: kinds,
    chosen: kind,
    onChoose: (each) => filter({ kind: each, model: undefined }),
    nameOf: (each) => t(`kind_${each}`),
  })
  return h(
    Page,
    { title: t('page_playground'), subtitle: t('playgroundHint'), actions },
    h(ErrorNotice, list),
    h(
      'div',
      { class: 'filters' },
      h(SelectField, {
        label: t('by_model'),
        compact: true,
        value: model,
        onChange: (value) => filter({ model: value }),
        options: listed,
      }),
      h(KeyField, { apiKey: key, onKey: setKey }),
    ),
    kind === 'chat' && h(Chat, { ...trial, models: fitting }),
    kind === 'image' && h(ImageTrial, trial),
    kind === 'video' && h(VideoTrial, trial),
  )
}
