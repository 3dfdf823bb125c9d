import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createGateway } from '../../src/index.ts'
import { defineProvider } from '../../src/providers/index.ts'
import { read } from '../endpoints/forms.ts'
import { temporaryFolder, type TemporaryFolder } from '../http/form.ts'
import { long } from '../long.ts'
import { inPieces, mutant, randomFrom, type Random } from './mutants.ts'

const count = long ? 40_000 : 3_000
const atOnce = 16

let folder: TemporaryFolder

beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => folder.remove())

const gateway = createGateway({
  keys: { 'sk-test': {} },
  models: {
    m: defineProvider({
      name: 'reader',
      async transcribe({ form }) {
        return { text: String((await read(form)).length) }
      },
      async editImages({ form }) {
        await read(form)
        return { data: [{ b64_json: 'AAAA' }] }
      },
    }),
  },
  // Small enough that forms are passed on or kept on disk.
  sizes: { uploadMemoryBytes: 3 },
})

async function answer(random: Random): Promise<number | string> {
  const body = mutant(random)
  const stream = Readable.from(inPieces(body, random), { objectMode: false })
  const target = random(2) === 0 ? '/v1/audio/transcriptions' : '/v1/images/edits'
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'multipart/form-data; boundary=b' }
  const { signal } = new AbortController()
  const late = new AbortController()
  const reply = await Promise.race([
    gateway.handle({ method: 'POST', target, headers, body: { state: 'unread', stream }, signal }),
    pause(1_000, undefined, { signal: late.signal }),
  ])
  late.abort()
  return reply?.status ?? `no answer to ${JSON.stringify(body)}`
}

it(`${count} malformed forms each get a response within a second, without a 500 or a file left behind`, async () => {
  const random = randomFrom(20_261_120)
  const answers = new Map<number | string, number>()
  for (let done = 0; done < count; done += atOnce) {
    for (const status of await Promise.all(Array.from({ length: atOnce }, () => answer(random)))) {
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  expect(new Set(answers.keys())).toEqual(new Set([200, 400, 404]))
  for (const status of [200, 400]) expect(answers.get(status)).toBeGreaterThan(count / 10)
  expect({}.constructor).toBe(Object)
  // Streamed responses were not read, so closing aborts them.
  await gateway.close({ graceMs: 0 })
  expect(folder.left()).toEqual([])
}, 120_000)
