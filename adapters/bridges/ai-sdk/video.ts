/**
 * Videos by models of the AI SDK. Where a model can be asked about its work (`doStart`, `doStatus`), the vendor's job is
 * kept with the task, and any process goes on with it. Where it can only be waited for (`doGenerate`), the work is this
 * process's: no other one knows of it, and a task whose process has ended fails as lost, uncharged.
 */
import type { Provider } from '../../../src/providers/contract.ts'
import { isRecord } from '../../../src/providers/reading/parts.ts'
import type { VideoContext } from '../../../src/providers/video.ts'
import type { Json } from '../../../src/wire/json.ts'
import type { ChatSettings } from './chat.ts'
import type { AiSdkVideoModel } from './models.ts'
import { jobIn, startJob, statusOfJob, videoOfJob } from './video-job.ts'
import { askingOf, type VideoAsking } from './video-asking.ts'
import { videoOptions } from './video-options.ts'
import { contentOf } from './video-result.ts'
import { generate, VideoWork } from './video-work.ts'

export interface VideoSettings extends ChatSettings {
  /** See `AiSdkOptions`. */
  readonly videoBytes: number
  /** See `AiSdkOptions`. */
  readonly allowPrivateNetwork: boolean
}

/** `modelFor`: throws for a model that there is not. */
export function videosOf(
  modelFor: (asking: VideoAsking) => AiSdkVideoModel,
  settings: VideoSettings,
): Required<Pick<Provider, 'video' | 'close'>> {
  const work = new VideoWork(settings.videoBytes)
  return {
    video: {
      // The SDK has no token that makes a repeated start the same one.
      submit: 'none',
      async start(call) {
        const asking = askingOf(call)
        const model = modelFor(asking)
        const options = videoOptions(call.request, settings)
        if (canBeAsked(model)) return startJob(model, options, asking, settings)
        return { work: work.begin((signal) => generate(model, options, { ...asking, signal }, settings)) }
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

function canBeAsked({ doStart, doStatus }: AiSdkVideoModel): boolean {
  return doStart !== undefined && doStatus !== undefined
}

function workIn(operation: Json): string | undefined {
  const { work } = isRecord(operation) ? operation : {}
  return typeof work === 'string' ? work : undefined
}
