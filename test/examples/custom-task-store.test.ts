/** The conformance test on the example's store, and the command in its header. */
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

test('the conformance test also runs under Node’s test runner', async () => {
  const [conditions = '', path = ''] = commandOf('custom-task-store')
  const { stdout } = await promisify(execFile)(process.execPath, [conditions, '--test', '--test-reporter=tap', path])
  expect(stdout).toMatch(/# pass 3\d/)
  expect(stdout).toContain('# fail 0')
})
