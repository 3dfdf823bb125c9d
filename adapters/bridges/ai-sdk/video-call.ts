/** The request behind a video, when it is submitted and later, and the errors of its model. */
import { GatewayError } from '../../../src/errors.ts'
import { readVideoFault } from '../../../src/providers/gemini/videos/fault.ts'
import type { VideoCall, VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import { failureOf, type CallInfo } from './failure.ts'

/** The parts of a video request that its errors depend on. */
export interface VideoCallInfo extends CallInfo {
  /** The vendor's name for the model. */
  readonly model: string
  /** The fields that the client sent. */
  readonly fields: readonly string[]
  /** To add to each request to the vendor. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export function callInfoOf({ request, model, openModel, signal, headers }: VideoCall): VideoCallInfo {
  const fields = Object.keys(request)
  const field = (name: string) => request[name]
  return { model, publicModel: request.model, openModel, signal, headers, fields, field }
}

export function videoFailure(thrown: unknown, info: VideoCallInfo): unknown {
  return failureOf(thrown, info, readVideoFault)
}

/** The failed status in an error that the model throws for a failed generation; undefined for all other errors. */
export function failedStatusIn(thrown: unknown): VideoStatus | undefined {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown }
  // The names of such errors in all SDK packages: GOOGLE_VIDEO_GENERATION_ERROR, XAI_VIDEO_MODERATION_ERROR.
  return typeof name === 'string' && /^[A-Z_]+_VIDEO_[A-Z_]+$/.test(name) ? failedStatus(message) : undefined
}

/** The status of a task whose model has failed permanently. */
export function failedBy(thrown: unknown, info: VideoCallInfo): VideoStatus {
  const failed = failedStatusIn(thrown)
  if (failed !== undefined) return failed
  const { code, status, message } = GatewayError.from(videoFailure(thrown, info))
  if (status < 500 && status !== 429) return { state: 'failed', code, error: message }
  return { state: 'failed', error: 'The generation failed. Submit it again.' }
}
