/** Gemini Omni: a background interaction. Sources: the Gemini API reference (interactions), and Google's client library. */
import { isRecord, type Fields } from '../../../wire/json.ts'
import type { VideoAbilities } from '../../video.ts'
import { failedStatus, refusedStatus, stateOf, nonEmptyText } from '../../videos/states.ts'
import { readVideoFault } from './fault.ts'
import type { FoundVideo, GoogleVideoDialect } from './dialect.ts'
import { abilitiesWith, videoOptionsOf } from './video-options.ts'

const supported = ['aspectRatio', 'resolution', 'seed'] as const

export function omniDialect(ignored: readonly string[] | undefined): GoogleVideoDialect {
  return {
    submit: 'none',
    start({ request, model }) {
      const { image, parameters } = videoOptionsOf(request, supported, ignored)
      const { aspectRatio, resolution, seed } = parameters
      const text = { type: 'text', text: request.prompt }
      const input = image && { type: 'image', data: image.base64, mime_type: image.mediaType }
      return {
        path: '/interactions',
        body: {
          model: model.replace(/^models\//, ''),
          input: input === undefined ? [text] : [input, text],
          // Stored, so that it can be polled.
          background: true,
          store: true,
          response_format: {
            type: 'video',
            delivery: 'uri',
            duration: `${request.duration}s`,
            aspect_ratio: aspectRatio,
            resolution,
          },
          generation_config: {
            video_config: { task: input === undefined ? 'text_to_video' : 'image_to_video' },
            seed,
          },
        },
      }
    },
    idOf: ({ id }) => nonEmptyText(id),
    check: (id) => ({ method: 'GET', path: `/interactions/${id}` }),
    statusOf(answer) {
      const { uri, base64 } = videoIn(answer)
      const state = stateOf(answer['status'], false)
      if (state === 'failed') return failedStatus(answer['errors'] ?? answer['error'] ?? answer['status'])
      if (state !== 'completed') return { state }
      if (uri !== undefined) return { state, operation: { uri } }
      // Completed without a video: the model rejected the prompt in text.
      return base64 === undefined ? refusedStatus : { state }
    },
    cancel: (id) => ({ path: `/interactions/${id}/cancel`, body: {} }),
    fault: readVideoFault,
    large: true,
    videoIn,
  }
}

/** Source: the pages of the models in Google's documentation. */
export function omniLimits(model: string): VideoAbilities {
  const maxSeconds = /omni-(?:flash|1\.1)/.test(model) ? 10 : 15
  const durations = Array.from({ length: maxSeconds - 2 }, (_, index) => index + 3)
  return { durations, ...abilitiesWith(supported) }
}

function videoIn({ output_video: whole, steps }: Fields): FoundVideo {
  const contents = Array.isArray(steps) ? steps.filter(isRecord).flatMap(({ content }) => content) : []
  const video = [whole, ...contents].filter(isRecord).find(({ type, uri, data }) => type === 'video' && (uri ?? data))
  return { uri: nonEmptyText(video?.['uri']), base64: nonEmptyText(video?.['data']) }
}
