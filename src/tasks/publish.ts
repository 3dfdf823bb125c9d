/** The diagnostics channel and the hook for video tasks. */
import { channel } from 'node:diagnostics_channel'
import { contained } from '../observing/observe.ts'
import type { TaskEvent } from './parts.ts'

const tasks = channel('modelhatch:task')

export function publishTask(event: TaskEvent, hook: ((event: TaskEvent) => unknown) | undefined): void {
  if (tasks.hasSubscribers) tasks.publish(event)
  if (hook !== undefined) contained(event.task.id, () => hook(event))
}
