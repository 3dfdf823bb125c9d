/**
 * Veo: a long-running prediction, polled by its name. Sources: the references of the Gemini API (predictLongRunning,
 * operations) and of Vertex AI (fetchPredictOperation), and Google's client library.
 */
import { GatewayError } from '../../../errors.ts'
import { fieldsOf, isRecord, itemsOf, type Fields } from '../../../wire/json.ts'
import type { VideoAbilities, VideoStatus } from '../../video.ts'
import { failedStatus, refusedStatus, nonEmptyText } from '../../videos/states.ts'
import { collectionOf } from '../vendor.ts'
import { readVideoFault } from './fault.ts'
import { abilitiesWith, videoOptionsOf } from './video-options.ts'
import type { FoundVideo, GoogleVideoDialect } from './dialect.ts'

const supported = ['aspectRatio', 'resolution', 'negativePrompt', 'personGeneration', 'seed', 'generateAudio'] as const

export function veoDialect(ignored: readonly string[] | undefined): GoogleVideoDialect {
  return {
    submit: 'none',
    start({ request, model }) {
      const { image, parameters } = videoOptionsOf(request, supported, ignored)
      const input = image && { image: { bytesBase64Encoded: image.base64, mimeType: image.mediaType } }
      return {
        path: `/${collectionOf(model)}:predictLongRunning`,
        body: {
          instances: [{ prompt: request.prompt, ...input }],
          parameters: { ...parameters, durationSeconds: request.duration, sampleCount: 1 },
        },
      }
    },
    idOf: ({ name }) => (isName(name) ? name : undefined),
    pathOf(name) {
      if (!isName(name)) throw new GatewayError('not_found')
      return name
    },
    check(name) {
      const model = /^projects\/.*\/(models\/[^/]+)\/operations\//.exec(name)?.[1]
      if (model === undefined) return { method: 'GET', path: `/${name}` }
      // Vertex AI finds a prediction only by its model and name.
      return { path: `/${model}:fetchPredictOperation`, body: { operationName: name } }
    },
    statusOf({ done, error, response }) {
      if (isRecord(error)) return failedStatus(error)
      if (done !== true) return { state: 'processing' }
      return statusFrom(resultIn(response))
    },
    fault: readVideoFault,
    large: true,
    videoIn: ({ response }) => videoIn(resultIn(response)),
  }
}

/** Source: the pages of the models in Google's documentation. */
export function veoLimits(model: string): VideoAbilities {
  return { durations: model.includes('veo-2') ? [5, 6, 7, 8] : [4, 6, 8], ...abilitiesWith(supported) }
}

/** Whether a name is a path to an operation, without segments such as `..`. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^\w[\w.-]*(?:\/\w[\w.-]*)+$/.test(name) && name.includes('/operations/')
}

/** The Gemini API has one more level of nesting than Vertex AI. */
function resultIn(response: unknown): Fields {
  const outer = fieldsOf(response)
  return isRecord(outer['generateVideoResponse']) ? outer['generateVideoResponse'] : outer
}

function statusFrom(result: Fields): VideoStatus {
  const { uri, base64 } = videoIn(result)
  if (uri !== undefined) return { state: 'completed', operation: { uri } }
  if (base64 !== undefined) return { state: 'completed' }
  if (Number(result['raiMediaFilteredCount']) > 0) return refusedStatus
  return failedStatus('no video')
}

function videoIn({ generatedSamples, videos }: Fields): FoundVideo {
  const [first] = itemsOf(Array.isArray(generatedSamples) ? generatedSamples : videos)
  const { video = first } = fieldsOf(first)
  const { uri, bytesBase64Encoded: base64, encodedVideo: encoded } = fieldsOf(video)
  return { uri: nonEmptyText(uri), base64: nonEmptyText(base64) ?? nonEmptyText(encoded) }
}
