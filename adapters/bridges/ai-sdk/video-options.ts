/** A video request → the options of an AI SDK video model. */
import { invalid } from '../../../src/errors.ts'
import { ratioOf, usualRatios } from '../../../src/providers/videos/aspect-ratio.ts'
import { fieldFor, readVideoOptions, withShape } from '../../../src/providers/videos/video-options.ts'
import type { VideoRequest } from '../../../src/wire/video.ts'
import type { ModelSettings } from './generate.ts'
import { referred } from './media.ts'

/** The settings that the SDK supports, by its names. */
const kinds = {
  aspectRatio: 'string',
  resolution: 'string',
  fps: 'number',
  seed: 'number',
  generateAudio: 'boolean',
} as const

const forms: readonly (readonly [keyof typeof kinds, RegExp, string])[] = [
  ['aspectRatio', /^(?:\d{1,4}:\d{1,4}|adaptive)$/, '"<width>:<height>", or be "adaptive"'],
  ['resolution', /^\d{2,5}x\d{2,5}$/, '"<width>x<height>"'],
]

export function videoOptions(request: VideoRequest, { dropParams, providerOptions }: ModelSettings): object {
  const { settings, picture } = readVideoOptions(request, kinds, dropParams)
  for (const [name, form, description] of forms) {
    const value = settings[name]
    if (value === undefined || form.test(String(value))) continue
    const field = fieldFor(name, request)
    throw invalid(`"${field}" must have the form ${description}.`, field)
  }
  const { model, prompt, duration } = request
  return {
    prompt,
    n: 1,
    duration,
    ...withShape(request, settings, shapeOf(request)),
    image: picture && referred({ image_url: picture.url }, picture.field, { publicModel: model }),
    providerOptions: providerOptions ?? {},
  }
}

/** Both forms of the size, because some vendors support only one of them. */
function shapeOf({ size }: VideoRequest): { resolution?: string; aspectRatio?: string } {
  if (size === undefined) return {}
  const aspectRatio = ratioOf(size, usualRatios)
  return aspectRatio === undefined ? { resolution: size } : { resolution: size, aspectRatio }
}
