/** Faults of tasks: of videos, which outlive their requests. */
import type { Edits } from './edits.ts'

export const inTasks: Edits = {
  'src/tasks/memory.ts': [
    [
      'a task replaces another with its id',
      'if (present !== undefined && !isOver(present, task.createdAt)) return copy(present)',
      'void present',
    ],
    [
      'a task is replaced whatever its version',
      'if (tasks.get(key)?.version !== task.version - 1) return false',
      'void key',
    ],
    ['a task is claimed in spite of its lease', ' && task.leasedUntil <= now) due.push', ') due.push'],
  ],
  'src/tasks/submit.ts': [
    [
      'a submission in doubt is repeated at any vendor',
      "  if (video.submit === 'none') return giveUp(services, task)\n  try",
      '  try',
    ],
    [
      'a job that was found is submitted again',
      'if (operation !== undefined) return await accepted(services, task, operation)',
      'void accepted',
    ],
    [
      'a job is not noted',
      "{ state: 'pending', request, operation, faults: 0 }",
      "{ state: 'pending', request, faults: 0 }",
    ],
  ],
  'src/tasks/services.ts': [
    [
      'every failed submission counts as rejected',
      'if (error instanceof ProviderError && !error.begun) return true',
      'return true',
    ],
  ],
  'src/tasks/finish.ts': [
    [
      'a task counts as settled although the ledger failed',
      '    const dueAt = (await services.now()) + services.timing.leaseMs\n    return putBack(services, task, { faults: task.data.faults + 1 }, dueAt)\n',
      '',
    ],
  ],
  'src/endpoints/videos/billing.ts': [
    ['a failed video is charged', "const made = state === 'completed' || isCharged === true", 'const made = true'],
    ['a completed video is not charged', 'if (made) ({ overage }', 'if (!made) ({ overage }'],
  ],
  'src/tasks/video-tasks.ts': [
    [
      'a repeated submission makes another task',
      "taskId('video_', caller.account, 'videos', idempotencyKey)",
      "taskId('video_', caller.account, 'videos', undefined)",
    ],
    [
      'the hold of a repeated submission is kept',
      "      await this.#services.billing.end({ ...paid, data: { ...paid.data, state: 'failed' } })\n",
      '',
    ],
  ],
  'src/tasks/sweeper.ts': [
    ['tasks that nobody polls are forgotten', 'for (const task of claimed) this.#work(task)', 'void claimed'],
  ],
}
