import { expect, test } from 'vitest'
import { Canceller } from '../../src/http/cancellation.ts'
import { pause } from '../../src/http/deadline.ts'

test('a pause ends when its work is cancelled, and at once if it was before', async () => {
  const work = new Canceller()
  const during = pause(60_000, work)
  work.abort(undefined)
  await during
  await pause(60_000, work)
  expect(work.aborted).toBe(true)
})
