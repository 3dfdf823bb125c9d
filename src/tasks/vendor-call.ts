import type { AttemptStep } from '../observe/contract.ts'
import type { AttemptWatch } from '../observe/watch.ts'
import type { VideoContext } from '../providers/video.ts'
import { ask, isPassing, type TaskServices, type VideoDeployment } from './services.ts'
import type { StoredTask } from './task.ts'

/** Calls the vendor of a task, with a timeout, and tells telemetry about it. */
export async function askVendor<T>(
  services: TaskServices,
  task: StoredTask,
  deployment: VideoDeployment,
  step: Exclude<AttemptStep, 'call'>,
  call: (context: VideoContext) => Promise<T>,
): Promise<T> {
  const { timing } = services
  const ms = step === 'submit' ? timing.startMs : timing.checkMs
  const watch = attemptAt(services, task, deployment, step)
  if (watch === undefined) return ask(ms, (signal) => call({ signal }))
  const { headers } = watch
  try {
    const answer = await watch.within(() => ask(ms, (signal) => call({ signal, ...(headers && { headers }) })))
    watch.begun()
    watch.ended({ outcome: 'succeeded' })
    return answer
  } catch (error) {
    const { status, vendorStatus } = Object(error) as { status?: number; vendorStatus?: number }
    const rejected = !isPassing(error)
    watch.ended({
      outcome: rejected ? 'rejected' : 'failed',
      error,
      status: vendorStatus ?? (rejected ? status : undefined),
    })
    throw error
  }
}

function attemptAt(
  services: TaskServices,
  { id, data }: StoredTask,
  { provider, model: providerModel, openModel, origin }: VideoDeployment,
  step: AttemptStep,
): AttemptWatch | undefined {
  if (services.attempt === undefined) return undefined
  const task = { id, traceparent: data.trace }
  const { model } = data.request
  return services.attempt({ id, endpoint: 'videos', step, model, provider, providerModel, openModel, origin, task })
}
