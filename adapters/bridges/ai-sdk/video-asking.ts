/** Who asks for a video, at the start and later on, and what becomes of a model's failure to make it. */
import { GatewayError } from '../../../src/errors.ts'
import { readVideoFault } from '../../../src/providers/gemini/videos/fault.ts'
import type { VideoCall, VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import { failureOf, type Asking } from './failure.ts'

export interface VideoAsking extends Asking {
  /** The vendor's name for the model. */
  readonly model: string
  /** The fields that the client sent. */
  readonly fields: readonly string[]
}

export function askingOf({ request, model, openModel, signal }: VideoCall): VideoAsking {
  const fields = Object.keys(request)
  return { model, publicModel: request.model, openModel, signal, fields, field: (name) => request[name] }
}

export function videoFailure(thrown: unknown, asking: VideoAsking): unknown {
  return failureOf(thrown, asking, readVideoFault)
}

/** What the model throws instead of telling that there will be no video; undefined where it could not be asked. */
export function endIn(thrown: unknown): VideoStatus | undefined {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown }
  // All packages of the SDK name such errors alike: GOOGLE_VIDEO_GENERATION_ERROR, XAI_VIDEO_MODERATION_ERROR.
  return typeof name === 'string' && /^[A-Z_]+_VIDEO_[A-Z_]+$/.test(name) ? failedStatus(message) : undefined
}

/** How a task ends whose model has failed for good. */
export function failedBy(thrown: unknown, asking: VideoAsking): VideoStatus {
  const end = endIn(thrown)
  if (end !== undefined) return end
  const { code, status, message } = GatewayError.from(videoFailure(thrown, asking))
  if (status < 500 && status !== 429) return { state: 'failed', code, error: message }
  return { state: 'failed', error: 'The generation failed. Submit it again.' }
}
