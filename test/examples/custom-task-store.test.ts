/** The example's store against the kit, and the command that its head gives. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { fileTaskStore } from '../../examples/custom-task-store.ts'
import { testTaskStore } from '../../src/testing/task-store.ts'
import { commandOf } from './example.ts'

const folder = mkdtempSync(join(tmpdir(), 'modelhatch-'))
let made = 0
testTaskStore(test, () => fileTaskStore(join(folder, `${made++}.json`)))
afterAll(() => rmSync(folder, { recursive: true }))

test('the kit runs under node’s own test runner too', async () => {
  const [conditions = '', path = ''] = commandOf('custom-task-store')
  const { stdout } = await promisify(execFile)(process.execPath, [conditions, '--test', '--test-reporter=tap', path])
  expect(stdout).toMatch(/# pass 3\d/)
  expect(stdout).toContain('# fail 0')
})
