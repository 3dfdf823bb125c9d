/**
 * Veo: a long-running prediction, whose name is asked about. Source: the Gemini API reference (predictLongRunning,
 * operations) and Vertex AI's (fetchPredictOperation), as Google's own client speaks them.
 */
import { GatewayError } from '../../../errors.ts'
import { isRecord } from '../../reading/parts.ts'
import type { VideoLimits, VideoStatus } from '../../video.ts'
import type { Answer } from '../../videos/dialect.ts'
import { failedStatus, refusedStatus, textOf } from '../../videos/states.ts'
import { collectionOf } from '../vendor.ts'
import { readVideoFault } from './fault.ts'
import { wishesIn } from './video-options.ts'
import type { FoundVideo, GoogleVideoDialect } from './dialect.ts'

const taken = ['aspectRatio', 'resolution', 'negativePrompt', 'personGeneration', 'seed', 'generateAudio'] as const

export function veoDialect(ignored: readonly string[] | undefined): GoogleVideoDialect {
  return {
    submit: 'none',
    start({ request, model }) {
      const { image, parameters } = wishesIn(request, taken, ignored)
      const shown = image && { image: { bytesBase64Encoded: image.base64, mimeType: image.mediaType } }
      return {
        path: `/${collectionOf(model)}:predictLongRunning`,
        body: {
          instances: [{ prompt: request.prompt, ...shown }],
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
      // On Vertex AI a prediction is not found by its name alone.
      return { path: `/${model}:fetchPredictOperation`, body: { operationName: name } }
    },
    statusOf({ done, error, response }) {
      if (isRecord(error)) return failedStatus(error)
      if (done !== true) return { state: 'processing' }
      return madeStatus(madeIn(response))
    },
    fault: readVideoFault,
    large: true,
    videoIn: ({ response }) => videoIn(madeIn(response)),
  }
}

/** Source: the models' pages in Google's documentation. */
export function veoLimits(model: string): VideoLimits {
  return { durations: model.includes('veo-2') ? [5, 6, 7, 8] : [4, 6, 8] }
}

/** Segments of a path, none of which leads out of it. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^\w[\w.-]*(?:\/\w[\w.-]*)+$/.test(name) && name.includes('/operations/')
}

/** The Gemini API wraps it once more than Vertex AI. */
function madeIn(response: unknown): Answer {
  const outer = isRecord(response) ? response : {}
  return isRecord(outer['generateVideoResponse']) ? outer['generateVideoResponse'] : outer
}

function madeStatus(made: Answer): VideoStatus {
  const { uri, base64 } = videoIn(made)
  if (uri !== undefined) return { state: 'completed', operation: { uri } }
  if (base64 !== undefined) return { state: 'completed' }
  if (Number(made['raiMediaFilteredCount']) > 0) return refusedStatus
  return failedStatus('no video')
}

function videoIn({ generatedSamples, videos }: Answer): FoundVideo {
  const samples = Array.isArray(generatedSamples) ? generatedSamples : videos
  const first: unknown = Array.isArray(samples) ? samples[0] : undefined
  const video = isRecord(first) && isRecord(first['video']) ? first['video'] : first
  if (!isRecord(video)) return {}
  return { uri: textOf(video['uri']), base64: textOf(video['bytesBase64Encoded']) ?? textOf(video['encodedVideo']) }
}
