/** Videos of models with `doStart` and `doStatus`. Everything that polling needs is stored with the task. */
import { GatewayError } from '../../../src/errors.ts'
import { tryNext } from '../../../src/providers/failure.ts'
import type { VideoContext, VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import { type Json, fieldsOf, itemsOf } from '../../../src/wire/json.ts'
import type { ModelSettings } from './generate.ts'
import { rejectIgnored } from './failure.ts'
import type { AiSdkVideoModel, AiSdkVideoStatus } from './models.ts'
import { failedBy, failedStatusIn, videoFailure, type VideoCallInfo } from './video-call.ts'
import { firstVideo, type MadeVideo } from './video-result.ts'

interface Job extends VideoCallInfo {
  /** The model's own state of the job. */
  readonly operation: unknown
}

export async function startJob(
  model: AiSdkVideoModel,
  options: object,
  info: VideoCallInfo,
  { dropParams }: ModelSettings,
): Promise<Json> {
  try {
    const { headers, signal: abortSignal } = info
    const started = await model.doStart?.({ ...options, headers, abortSignal } as never)
    if (started?.operation === undefined) throw tryNext(new Error('the model returned no operation'))
    rejectIgnored(started.warnings, info, dropParams)
    const { model: name, publicModel, fields } = info
    return { model: name, publicModel, fields, operation: started.operation as Json }
  } catch (thrown) {
    throw videoFailure(thrown, info)
  }
}

export function jobIn(stored: Json, { signal }: VideoContext): Job {
  const { model, publicModel, fields, operation } = fieldsOf(stored)
  if (typeof model !== 'string' || typeof publicModel !== 'string') throw new GatewayError('not_found')
  const sent = itemsOf(fields) as readonly string[]
  const field = (name: string) => sent.includes(name) || undefined
  return { model, publicModel, openModel: false, signal, fields: sent, field, operation }
}

export async function statusOfJob(
  model: AiSdkVideoModel,
  job: Job,
  { dropParams }: ModelSettings,
): Promise<VideoStatus> {
  let polled: AiSdkVideoStatus | undefined
  try {
    polled = await poll(model, job)
  } catch (thrown) {
    const failed = failedStatusIn(thrown)
    if (failed !== undefined) return failed
    throw thrown
  }
  if (polled?.status === 'error') return failedStatus(polled.error)
  if (polled?.status !== 'completed') return { state: 'processing' }
  try {
    rejectIgnored(polled.warnings, job, dropParams)
  } catch (rejection) {
    return failedBy(rejection, job)
  }
  return firstVideo(polled.videos) === undefined ? failedStatus('no video') : { state: 'completed' }
}

/** Polls again for each download: URLs expire, and may contain keys that must not be stored. */
export async function videoOfJob(model: AiSdkVideoModel, job: Job): Promise<MadeVideo | undefined> {
  const polled = await poll(model, job)
  return polled?.status === 'completed' ? firstVideo(polled.videos) : undefined
}

async function poll(model: AiSdkVideoModel, job: Job): Promise<AiSdkVideoStatus | undefined> {
  try {
    return await model.doStatus?.({ operation: job.operation, abortSignal: job.signal } as never)
  } catch (thrown) {
    if (failedStatusIn(thrown) !== undefined) throw thrown
    const { statusCode } = Object(thrown) as { statusCode?: unknown }
    if (statusCode === 404 || statusCode === 410) throw new GatewayError('not_found')
    throw videoFailure(thrown, job)
  }
}
