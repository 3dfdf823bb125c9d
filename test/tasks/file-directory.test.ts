import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileDirectory } from '../../src/index.ts'
import { testFileStorage } from '../../src/testing/index.ts'

const shared = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
testFileStorage(test, () => fileDirectory(shared), { reopen: () => fileDirectory(shared) })

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'modelhatch-files-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('a directory is created at the first use, for this user only', async () => {
  const path = join(folder(), 'a', 'b')
  const storage = fileDirectory(path)
  await storage.put('some', async function* () {}.call(undefined))
  expect(statSync(path).mode & 0o777).toBe(0o700)
  expect(statSync(join(path, 'some')).mode & 0o777).toBe(0o600)
})

test('names cannot leave the directory', async () => {
  const storage = fileDirectory(folder())
  await expect(storage.get('../secret')).rejects.toThrow('is not the name of a file')
  expect(() => fileDirectory('')).toThrow('needs the path')
})

test('what a process has left half-written is deleted a day later', async () => {
  const path = folder()
  mkdirSync(path, { recursive: true })
  for (const name of ['old.1.part', 'new.1.part', 'whole']) writeFileSync(join(path, name), 'x')
  utimesSync(join(path, 'old.1.part'), 1, 1)
  await fileDirectory(path).put('other', async function* () {}.call(undefined))
  expect(readdirSync(path).sort()).toEqual(['new.1.part', 'other', 'whole'])
})
