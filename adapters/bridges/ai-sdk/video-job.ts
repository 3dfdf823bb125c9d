/** A job of the vendor, by a model that can be asked about it. All that is needed to ask is kept with the task. */
import { GatewayError } from '../../../src/errors.ts'
import { tryNext } from '../../../src/providers/failure.ts'
import { isRecord } from '../../../src/providers/reading/parts.ts'
import type { VideoContext, VideoStatus } from '../../../src/providers/video.ts'
import { failedStatus } from '../../../src/providers/videos/states.ts'
import type { Json } from '../../../src/wire/json.ts'
import type { ChatSettings } from './chat.ts'
import { refuseUnheeded } from './failure.ts'
import type { AiSdkVideoModel, AiSdkVideoStatus } from './models.ts'
import { endIn, failedBy, videoFailure, type VideoAsking } from './video-asking.ts'
import { madeIn, type MadeVideo } from './video-result.ts'

interface Job extends VideoAsking {
  /** The model's own. */
  readonly operation: unknown
}

export async function startJob(
  model: AiSdkVideoModel,
  options: object,
  asking: VideoAsking,
  { dropParams }: ChatSettings,
): Promise<Json> {
  try {
    const started = await model.doStart?.({ ...options, abortSignal: asking.signal } as never)
    if (started?.operation === undefined) throw tryNext(new Error('the model named no operation'))
    refuseUnheeded(started.warnings, asking, dropParams)
    const { model: name, publicModel, fields } = asking
    return { model: name, publicModel, fields, operation: started.operation as Json }
  } catch (thrown) {
    throw videoFailure(thrown, asking)
  }
}

/** The job of a stored operation. */
export function jobIn(stored: Json, { signal }: VideoContext): Job {
  const { model, publicModel, fields, operation } = isRecord(stored) ? stored : {}
  if (typeof model !== 'string' || typeof publicModel !== 'string') throw new GatewayError('not_found')
  const sent: readonly unknown[] = Array.isArray(fields) ? fields : []
  const field = (name: string) => sent.includes(name) || undefined
  return { model, publicModel, openModel: false, signal, fields: sent as readonly string[], field, operation }
}

export async function statusOfJob(
  model: AiSdkVideoModel,
  job: Job,
  { dropParams }: ChatSettings,
): Promise<VideoStatus> {
  let told: AiSdkVideoStatus | undefined
  try {
    told = await asked(model, job)
  } catch (thrown) {
    const end = endIn(thrown)
    if (end !== undefined) return end
    throw thrown
  }
  if (told?.status === 'error') return failedStatus(told.error)
  if (told?.status !== 'completed') return { state: 'processing' }
  try {
    refuseUnheeded(told.warnings, job, dropParams)
  } catch (refusal) {
    return failedBy(refusal, job)
  }
  return madeIn(told.videos) === undefined ? failedStatus('no video') : { state: 'completed' }
}

/** Asked for anew each time: addresses lapse, and what stands in them is not for a store. */
export async function videoOfJob(model: AiSdkVideoModel, job: Job): Promise<MadeVideo | undefined> {
  const told = await asked(model, job)
  return told?.status === 'completed' ? madeIn(told.videos) : undefined
}

async function asked(model: AiSdkVideoModel, job: Job): Promise<AiSdkVideoStatus | undefined> {
  try {
    return await model.doStatus?.({ operation: job.operation, abortSignal: job.signal } as never)
  } catch (thrown) {
    if (endIn(thrown) !== undefined) throw thrown
    const { statusCode } = Object(thrown) as { statusCode?: unknown }
    if (statusCode === 404 || statusCode === 410) throw new GatewayError('not_found')
    throw videoFailure(thrown, job)
  }
}
