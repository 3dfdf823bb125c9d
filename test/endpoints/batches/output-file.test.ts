/** The file of a batch that two processes write, because the lease of one has expired meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { StoredBatch } from '../../../src/endpoints/batches/batch-task.ts'
import { OutputFile } from '../../../src/endpoints/batches/files/output-file.ts'
import { Files } from '../../../src/endpoints/files/files.ts'
import { fileDirectory, memoryTaskStore } from '../../../src/index.ts'
import { StoredContent } from '../../../src/tasks/files/stored-content.ts'

const batch = { account: 'acme', id: 'batch_1' } as StoredBatch

test.each([
  'begins once it is written, and fails',
  'began before it was written, and fails afterwards',
  'fails while it is written',
])('stays if one of them %s', async (when) => {
  const folder = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const content = new StoredContent(fileDirectory(folder))
  const services = { store: memoryTaskStore(), now: async () => Date.now(), content, accountBytes: 1_000 }
  const files = new Files(services, { everyMs: 600_000, concurrency: 1, perProvider: 1, random: () => 0.5 })
  onTestFinished(() => files.close())
  const begun = async (text: string) => {
    const file = new OutputFile(files, batch, 'output')
    await file.write(text)
    return file
  }
  const whole = await begun('all\n')
  if (when.startsWith('begins once')) await whole.end()
  const part = await begun('a part\n')
  if (when.startsWith('began before')) await whole.end()
  part.stop()
  await expect(part.end()).rejects.toThrow()
  if (when.startsWith('fails while')) await whole.end()
  const file = await files.find('acme', whole.id)
  expect(file.data.bytes).toBe(4)
  let text = ''
  for await (const piece of await files.read(file)) text += Buffer.from(piece).toString()
  expect(text).toBe('all\n')
})
