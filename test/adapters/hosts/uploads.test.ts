/** Uploads through every host: unchanged, or rejected with advice if a parser has consumed the body. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createGateway } from 'modelhatch'
import { defineProvider, isFile, type Form } from 'modelhatch/providers'
import { boundary, file, multipart, text } from '../../http/form.ts'
import { ask, type Answer } from './client.ts'
import { everyHost } from './hosts.ts'

const sound = createHash('sha512').update('sound').digest().toString('latin1').repeat(1_400)
const hash = createHash('sha1').update(Buffer.from(sound, 'latin1')).digest('hex')
const upload = multipart(file('file', Buffer.from(sound, 'latin1')), text('model', 'm'))

async function hashOf(form: Form | undefined): Promise<string> {
  const sum = createHash('sha1')
  for await (const part of form?.parts() ?? []) {
    if (isFile(part)) for await (const piece of part.bytes) sum.update(piece)
  }
  return sum.digest('hex')
}

async function answerOf(host: (typeof everyHost)[number], memory: number): Promise<Answer> {
  const listener = defineProvider({
    name: 'listener',
    async transcribe({ form }) {
      return { text: await hashOf(form) }
    },
  })
  const gateway = createGateway({
    keys: { 'sk-test': {} },
    models: { m: listener },
    sizes: { uploadMemoryBytes: memory },
  })
  const running = await host.start(gateway)
  try {
    const headers = { authorization: 'Bearer sk-test', 'content-type': `multipart/form-data; boundary=${boundary}` }
    return await ask(running, { method: 'POST', target: '/v1/audio/transcriptions', headers, body: upload })
  } finally {
    await gateway.close()
    await running.close()
  }
}

const consumers = /koa-body$|express\.text$/

describe.each(everyHost.filter(({ name }) => !consumers.test(name)))('$name', (host) => {
  test.each([1_000, 1_000_000])('accepts an upload with %d bytes of memory', async (memory) => {
    const { status, body } = await answerOf(host, memory)
    expect([status, JSON.parse(body)]).toEqual([200, { text: hash }])
  })
})

test.each(everyHost.filter(({ name }) => consumers.test(name)))(
  '$name: the error says where to mount the gateway',
  async (host) => {
    const { status, body } = await answerOf(host, 1_000)
    expect(status).toBe(400)
    expect(body).toContain('Mount the gateway before')
  },
)
