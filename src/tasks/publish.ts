/** The diagnostics channel and the hook for video tasks. */
import { channel } from 'node:diagnostics_channel'
import type { Observer } from '../observe/observe.ts'
import type { TaskEvent } from './services.ts'

const tasks = channel('modelhatch:task')

export function publishTask(
  event: TaskEvent,
  hook: ((event: TaskEvent) => unknown) | undefined,
  observer: Observer,
): void {
  if (tasks.hasSubscribers) tasks.publish(event)
  observer.call(event.task.id, hook, event)
  const { type, reason, task } = event
  const { request, provider, error, trace } = task.data
  observer.task({
    type,
    id: task.id,
    model: request.model,
    ...(reason !== undefined && { reason }),
    ...(provider !== undefined && { provider }),
    ...(error !== undefined && { code: error.code }),
    ...(trace !== undefined && { traceparent: trace }),
  })
}
