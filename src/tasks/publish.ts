/** The diagnostics channel and the hook for video tasks. */
import { channel } from 'node:diagnostics_channel'
import type { Observer } from '../observing/observe.ts'
import type { TaskEvent } from './parts.ts'

const tasks = channel('modelhatch:task')

export function publishTask(
  event: TaskEvent,
  hook: ((event: TaskEvent) => unknown) | undefined,
  observer: Observer,
): void {
  if (tasks.hasSubscribers) tasks.publish(event)
  observer.call(event.task.id, hook, event)
}
