import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { formBody } from '../../src/http/form-body.ts'
import { amendForm, changesTo, isFile } from '../../src/http/form.ts'
import { defaultSizes, type Sizes } from '../../src/http/sizes.ts'
import { readForm } from '../../src/http/upload.ts'
import {
  boundary,
  contentOf,
  exchangeOf,
  file,
  multipart,
  readParts,
  temporaryFolder,
  text,
  type TemporaryFolder,
} from './form.ts'
import { anyCharacter } from '../characters.ts'

let folder: TemporaryFolder

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(() => folder.remove())

/** Waits until no temporary file is open any more. */
async function nothingLeft(): Promise<void> {
  while (folder.left().some((name) => name.includes('deleted'))) await setImmediate()
  expect(folder.left()).toEqual([])
}

describe('reading a form', () => {
  it('yields the parts in the order they arrive, also files before fields', async () => {
    const parts = [
      file('file', 'sound', 'Größe 声.wav'),
      text('model', 'm'),
      text('include[]', 'a'),
      text('include[]', 'b'),
    ]
    const form = await readParts(multipart(...parts))
    expect(await contentOf(form)).toEqual(
      parts.map((part) => ({ ...part, value: part.filename ? Buffer.from('sound') : part.value })),
    )
    expect(form.fields.get('include[]')).toEqual(['a', 'b'])
    expect(form.files).toEqual(['file'])
  })

  it('treats parts with a file name, and octet streams, as files', async () => {
    const parts = [file('a', 'x', 'a', 'application/octet-stream'), { name: 'b', value: 'y', filename: 'b' }]
    const bare = { name: 'c', value: 'z', type: 'application/octet-stream' }
    const form = await readParts(multipart(...parts, bare))
    expect(form.files).toEqual(['a', 'b', 'c'])
  })

  it('strips folders and control characters from file names', async () => {
    const body = multipart({ name: 'a', value: 'x', filename: '../../etc/passwd' })
    const encoded = Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="b"; filename*=utf-8''a%0d%0aX-Evil%3A%201\r\n\r\nx\r\n--${boundary}--`,
    )
    const names = [...(await contentOf(await readParts(body))), ...(await contentOf(await readParts(encoded)))]
    expect(names.map(({ filename }) => filename)).toEqual(['passwd', 'aX-Evil: 1'])
  })

  it('omits the empty part of a file input without a file, and rejects a chosen file that is empty', async () => {
    const form = await readParts(multipart(file('mask', '', '', 'application/octet-stream'), text('model', 'm')))
    expect(form.files).toEqual([])
    await expect(readParts(multipart(file('image', '', 'a.png')))).rejects.toMatchObject({
      status: 400,
      param: 'image',
    })
  })

  it('ignores everything after the closing boundary, however the body is split', async () => {
    const body = multipart(text('model', 'm'), file('file', 'x'))
    const late = multipart(text('model', 'other'), file('file', 'never ended')).subarray(0, -20)
    const whole = Buffer.concat([body, late])
    for (let cut = 1; cut < whole.length; cut++) {
      const form = await readParts(Readable.from([whole.subarray(0, cut), whole.subarray(cut)]))
      expect([...form.fields.values(), form.files]).toEqual([['m'], ['file']])
    }
  })

  it('reads bytes that a parser of the host kept; without them the error says where to mount the gateway', async () => {
    const form = await read({ body: { state: 'text', text: multipart(text('model', 'm')) } })
    expect(form.fields.get('model')).toEqual(['m'])
    for (const body of [
      { state: 'parsed', value: { model: 'm' } },
      { state: 'lost' },
      { state: 'text', text: 'x' },
    ] as const) {
      await expect(read({ body })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('Mount the gateway before'),
      })
    }
    await expect(read({ body: { state: 'failed', status: 413 } })).rejects.toMatchObject({ status: 413 })
  })
})

describe('reading a form rejects', () => {
  it.each([
    ['a file above its limit', { fileBytes: 10 }, file('file', 'x'.repeat(11)), 413, 'file'],
    ['a field above its limit', { fieldBytes: 10 }, text('prompt', 'x'.repeat(11)), 413, 'prompt'],
    ['fields that are too large together', { jsonBytes: 10 }, text('prompt', 'x'.repeat(11)), 413, null],
    ['a body above its limit', { uploadBytes: 100 }, file('file', 'x'.repeat(101)), 413, null],
    ['too many files', { formFiles: 1 }, file('a', 'x'), 400, null],
    ['too many fields', { formFields: 1 }, text('a', 'x'), 400, null],
  ] as const)('%s', async (_, sizes, part, status, param) => {
    expect(await refuse(multipart(part, part), sizes)).toMatchObject({ status, param })
  })

  it('nothing that is exactly as large as its limit', async () => {
    const parts = [file('file', 'x'.repeat(10)), text('prompt', 'y'.repeat(10))]
    const form = await readParts(multipart(...parts), { fileBytes: 10, fieldBytes: 10, formFiles: 1, formFields: 1 })
    expect(await contentOf(form)).toHaveLength(2)
  })

  it('a declared length above the limit, before reading a byte', async () => {
    const body = new PassThrough()
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': '101' }
    const reading = readForm(
      exchangeOf(body, { headers }),
      { ...defaultSizes, uploadBytes: 100 },
      { passOn: () => false, check: () => undefined },
    )
    await expect(reading).rejects.toMatchObject({ status: 413 })
    expect(body.readableDidRead).toBe(false)
  })

  it('parts without a name, with control characters in the name, or in an unknown charset', async () => {
    for (const head of [
      'Content-Disposition: form-data',
      'Content-Disposition: form-data; name=""',
      'Content-Disposition: form-data; name="a\tb"',
      'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=klingon',
      `Content-Disposition: form-data; name="${'n'.repeat(300)}"; filename="x"`,
    ]) {
      expect(await refuse(onePart(head))).toMatchObject({ status: 400 })
    }
  })

  it('a body that is truncated anywhere', async () => {
    const whole = multipart(text('model', 'm'), file('file', 'sound'))
    const end = whole.length - 2 // the last line end may be missing
    const cuts = Array.from({ length: end }, (_, at) => whole.subarray(0, at))
    for (const cut of cuts) expect(await refuse(cut)).toMatchObject({ status: 400 })
  })

  it('a file whose header has no end, for which the parser would wait forever', async () => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n`
    expect(await refuse(Buffer.from(`${head}\r\n--${boundary}\r\n--`))).toMatchObject({ status: 400 })
  })

  it('a part with an endless header', async () => {
    const body = Buffer.from(`--${boundary}\r\nX: ${'x'.repeat(20_000)}`)
    expect(await refuse(body)).toMatchObject({ status: 400 })
  })

  it.each(['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary="\u00e4"'])(
    'the content type %s',
    async (type) => {
      const reading = read({ headers: { 'content-type': type } })
      await expect(reading).rejects.toMatchObject({ status: 400, message: expect.stringContaining('boundary') })
    },
  )

  it('other media types and encodings', async () => {
    for (const headers of [
      { 'content-type': 'application/json' },
      {},
      { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-encoding': 'gzip, br' },
    ]) {
      const reading = read({ headers })
      await expect(reading).rejects.toMatchObject({ status: 415 })
    }
  })

  it('a client that stops sending, and one that disconnects', async () => {
    const stalled = new PassThrough()
    stalled.write(multipart(text('model', 'm')).subarray(0, 60))
    expect(await refuse(stalled, { bodyIdleMs: 20 })).toMatchObject({ status: 408 })
    const gone = new PassThrough()
    gone.write(multipart(file('file', 'x')).subarray(0, 120))
    const refused = refuse(gone)
    await setImmediate()
    gone.destroy()
    expect(await refused).toMatchObject({ status: 499 })
    const client = new AbortController()
    const left = read({ body: { state: 'unread', stream: new PassThrough() }, signal: client.signal })
    client.abort()
    await expect(left).rejects.toMatchObject({ status: 499 })
  })
})

describe('a form that exceeds the memory limit', () => {
  const large = Buffer.alloc(1_000_000, 'sound ')
  const small = { uploadMemoryBytes: 1_000 }

  it('is kept in an unlinked private file, which is closed with the form', async () => {
    const parts = [file('file', large), text('model', 'm'), file('mask', 'tiny')]
    const form = await readParts(Readable.from(slices(multipart(...parts), 7_919)), small)
    expect(form.kept).toBe(true)
    if (process.platform === 'linux') expect(folder.left()).toEqual([expect.stringMatching(/\(deleted\) 600$/)])
    const expected = parts.map((part) => ({ ...part, value: part.filename ? Buffer.from(part.value) : part.value }))
    expect(await contentOf(form)).toEqual(expected)
    expect(await contentOf(form)).toEqual(expected)
    form.dispose()
    form.dispose()
    await nothingLeft()
  })

  it('leaves no file when the upload is interrupted', async () => {
    const body = multipart(file('file', large), text('model', 'm'))
    await expect(readParts(Readable.from(slices(body.subarray(0, 250_000), 7_919)), small)).rejects.toMatchObject({
      status: 400,
    })
    await nothingLeft()
  })

  it('is passed on as it arrives if the rules allow it, only as fast as it is read', async () => {
    const parts = [text('model', 'm'), file('file', large), text('language', 'en')]
    const pieces = slices(multipart(...parts), 7_919)
    let sent = 0
    const source = Readable.from(
      (function* () {
        for (const piece of pieces) {
          sent += piece.length
          yield piece
        }
      })(),
    )
    const form = await readParts(source, small, { passOn: (read) => read.fields.has('model') })
    await setImmediate()
    expect(form.kept).toBe(false)
    expect(sent).toBeLessThan(500_000)
    const read = await contentOf(form)
    expect(read.map(({ value }) => value.length)).toEqual([1, large.length, 2])
    await form.arrived
    expect(form.spent).toBe(true)
    expect(() => folder.left()).not.toThrow()
    expect(folder.left()).toEqual([])
    await expect(contentOf(form)).rejects.toMatchObject({ status: 503 })
  })

  it('skips the rest of a file that its reader does not want', async () => {
    const parts = [text('model', 'm'), file('file', large), text('language', 'en'), file('mask', large), text('n', '1')]
    const form = await readParts(Readable.from(slices(multipart(...parts), 7_919)), small, { passOn: () => true })
    const names: string[] = []
    for await (const part of form.parts()) {
      names.push(part.name)
      if (isFile(part)) for await (const _ of part.bytes) break
    }
    expect(names).toEqual(parts.map((part) => part.name))
  })

  it('does not time out the client while the reader pauses', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const body = Readable.from(slices(multipart(text('model', 'm'), file('file', large)), 7_919))
    const form = await readParts(body, { ...small, bodyIdleMs: 1_000 }, { passOn: () => true })
    while (!body.isPaused()) await setImmediate()
    vi.advanceTimersByTime(60_000)
    expect(await contentOf(form)).toHaveLength(2)
  })

  it('can still be kept as long as none of it was passed on', async () => {
    const form = await readParts(
      Readable.from(slices(multipart(text('model', 'm'), file('file', large)), 7_919)),
      small,
      { passOn: () => true },
    )
    await form.keep()
    expect(form.kept).toBe(true)
    expect(await contentOf(form)).toEqual(await contentOf(form))
    form.dispose()
    await nothingLeft()
  })

  it('throws errors in the rest of the form to the reader of its parts', async () => {
    const body = multipart(text('model', 'm'), file('file', large), text('n', '99'))
    let checked = 0
    const check = () => {
      if (checked++ > 0) throw new Error('n is too high')
    }
    const form = await readParts(Readable.from(slices(body, 7_919)), small, {
      passOn: () => true,
      check,
    })
    await expect(contentOf(form)).rejects.toThrow('n is too high')
    const cut = await readParts(Readable.from(slices(body.subarray(0, 200_000), 7_919)), small, { passOn: () => true })
    await expect(contentOf(cut)).rejects.toMatchObject({ status: 400 })
  })

  it('ends its iteration when it is disposed of', async () => {
    const body = new PassThrough()
    body.write(multipart(text('model', 'm'), file('file', large)).subarray(0, 150_000))
    const form = await readParts(body, small, { passOn: () => true })
    const reading = contentOf(form)
    form.dispose()
    await expect(reading).rejects.toMatchObject({ code: 'client_closed' })
    await expect(form.arrived).rejects.toMatchObject({ code: 'client_closed' })
    body.end()
    await once(body, 'close')
  })
})

describe('a form that is serialized', () => {
  const letters = fc.constantFrom('a', 'B', '"', '\\', ';', '=', ' ', '-', 'é', '声', '👋', '\u2028')
  const name = fc.string({ minLength: 1, maxLength: 12, unit: letters })
  const part = fc.oneof(
    fc.record({ name, value: fc.string({ unit: anyCharacter }) }),
    fc.record({
      name,
      value: fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      filename: name.map((value) => value.replaceAll(/[/\\]/g, '_')).filter((value) => !/^\.*$/.test(value)),
      type: fc.constantFrom('image/png', 'application/octet-stream'),
    }),
  )

  it('parses to the same parts, whatever names and values contain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        const body = await formBody({ kept: true, parts: () => formParts(parts) })
        const bytes = await buffer(body.bytes)
        expect(bytes.length).toBe(body.length)
        const headers = { 'content-type': body.contentType }
        const form = await readForm(exchangeOf(bytes, { headers }), defaultSizes, {
          passOn: () => false,
          check: () => undefined,
        })
        expect(await contentOf(form)).toEqual(
          parts.map((each) => ({
            ...each,
            name: quoted(each.name),
            ...('filename' in each && { filename: quoted(each.filename) }),
          })),
        )
      }),
      { numRuns: 200, seed: 7 },
    )
  })

  it('escapes line breaks in names', async () => {
    const name = 'a\r\nX-Evil: "1"'
    const body = await formBody({ kept: true, parts: () => formParts([{ name, value: '1' }]) })
    expect((await buffer(body.bytes)).toString()).toContain('name="a%0D%0AX-Evil: %221%22"\r\n\r\n1\r\n')
  })

  it('has the changed fields, and none without a value', async () => {
    const form = await readParts(multipart(file('image', 'x'), text('model', 'ours'), text('response_format', 'url')))
    const body = await formBody(amendForm(form, changesTo({ model: 'theirs', response_format: undefined, other: 'x' })))
    const bytes = await buffer(body.bytes)
    const read = await readForm(exchangeOf(bytes, { headers: { 'content-type': body.contentType } }), defaultSizes, {
      passOn: () => false,
      check: () => undefined,
    })
    expect([...read.fields]).toEqual([['model', ['theirs']]])
    expect(bytes.length).toBe(body.length)
  })
})

/** Reads a form from an exchange with some properties changed. */
function read(given: Parameters<typeof exchangeOf>[1]) {
  return readForm(exchangeOf(Buffer.alloc(0), given), defaultSizes, { passOn: () => false, check: () => undefined })
}

/** The message of the error for a form. */
function refuse(body: Buffer | Readable, sizes: Partial<Sizes> = {}) {
  return readParts(body, sizes).then(
    () => expect.fail('it was taken'),
    ({ status, param, message }) => ({ status, param, message }),
  )
}

function onePart(head: string): Buffer {
  return Buffer.from(`--${boundary}\r\n${head}\r\n\r\nx\r\n--${boundary}--\r\n`)
}

function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\\', '%5C')
}

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

async function* formParts(
  parts: readonly { name: string; value: string | Buffer; filename?: string; type?: string }[],
) {
  for (const { name, value, filename = '', type = '' } of parts) {
    if (typeof value === 'string') yield { name, value }
    else yield { name, filename, type, size: value.length, bytes: Readable.from([value]) }
  }
}
