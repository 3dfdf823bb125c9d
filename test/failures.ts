import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import type { Failure } from '../src/index.ts'

/** The failures that are published until the test ends. */
export function publishedFailures(): readonly Failure[] {
  const failures: Failure[] = []
  const watch = (failure: unknown) => void failures.push(failure as Failure)
  subscribe('modelhatch:failure', watch)
  onTestFinished(() => void unsubscribe('modelhatch:failure', watch))
  return failures
}
