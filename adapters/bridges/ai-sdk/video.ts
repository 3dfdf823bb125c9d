import type { Provider } from '../../../src/providers/contract.ts'
import type { VideoContext } from '../../../src/providers/video.ts'
import { type Json, isRecord } from '../../../src/wire/json.ts'
import type { ModelSettings } from './generate.ts'
import type { AiSdkVideoModel } from './models.ts'
import { jobIn, startJob, statusOfJob, videoOfJob } from './video-job.ts'
import { callInfoOf, type VideoCallInfo } from './video-call.ts'
import { videoOptions } from './video-options.ts'
import { contentOf } from './video-result.ts'
import { generate, VideoWork } from './video-work.ts'

export interface VideoSettings extends ModelSettings {
  /** See `AiSdkOptions`. */
  readonly videoBytes: number
  /** See `AiSdkOptions`. */
  readonly allowPrivateNetwork: boolean
}

/**
 * The video methods of a provider. If a model has `doStart` and `doStatus`, the vendor's job is stored with the task, and any
 * process can continue it. If it only has `doGenerate`, the video exists in this process alone, and its task fails without
 * a charge if the process ends first. `modelFor` throws for unknown models.
 */
export function videosOf(
  modelFor: (info: VideoCallInfo) => AiSdkVideoModel,
  settings: VideoSettings,
): Required<Pick<Provider, 'video' | 'close'>> {
  const work = new VideoWork(settings.videoBytes)
  return {
    video: {
      // The SDK has no idempotency key for starting a job.
      submit: 'none',
      async start(call) {
        const info = callInfoOf(call)
        const model = modelFor(info)
        const options = videoOptions(call.request, settings)
        if (canBePolled(model)) return startJob(model, options, info, settings)
        return { work: work.begin((signal) => generate(model, options, { ...info, signal }, settings)) }
      },
      async check(operation, context) {
        const id = workIn(operation)
        if (id !== undefined) return work.statusOf(id)
        const job = jobIn(operation, context)
        return statusOfJob(modelFor(job), job, settings)
      },
      async cancel(operation) {
        const id = workIn(operation)
        if (id !== undefined) work.stop(id)
      },
      async content(operation, context) {
        return contentOf(await videoOf(operation, context), context, settings.allowPrivateNetwork)
      },
    },
    close: async () => work.close(),
  }

  async function videoOf(operation: Json, context: VideoContext) {
    const id = workIn(operation)
    if (id !== undefined) return work.videoOf(id)
    const job = jobIn(operation, context)
    return videoOfJob(modelFor(job), job)
  }
}

function canBePolled({ doStart, doStatus }: AiSdkVideoModel): boolean {
  return doStart !== undefined && doStatus !== undefined
}

function workIn(operation: Json): string | undefined {
  const { work } = isRecord(operation) ? operation : {}
  return typeof work === 'string' ? work : undefined
}
