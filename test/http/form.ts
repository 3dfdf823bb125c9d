/** Multipart bodies as clients write them, and a check for files that an upload leaves behind. */
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { Exchange } from '../../src/http/exchange.ts'
import { isFile, type Form } from '../../src/http/form.ts'
import { defaultSizes, type Sizes } from '../../src/http/sizes.ts'
import { readForm } from '../../src/http/upload.ts'
import type { FormRules, UploadedForm } from '../../src/http/uploaded-form.ts'

export const boundary = 'the-boundary'

export interface WrittenPart {
  readonly name: string
  readonly value: string | Uint8Array
  readonly filename?: string
  readonly type?: string
}

export function text(name: string, value: string): WrittenPart {
  return { name, value }
}

export function file(name: string, value: string | Uint8Array, filename = 'a.bin', type = 'audio/wav'): WrittenPart {
  return { name, value, filename, type }
}

export function multipart(...parts: WrittenPart[]): Buffer {
  const lines = parts.flatMap(({ name, value, filename, type }) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`,
    filename === undefined ? '' : `; filename="${filename}"`,
    type === undefined ? '' : `\r\nContent-Type: ${type}`,
    '\r\n\r\n',
    value,
    '\r\n',
  ])
  return Buffer.concat([...lines, `--${boundary}--\r\n`].map((line) => Buffer.from(line as string)))
}

export function exchangeOf(body: Readable | Buffer, given: Partial<Exchange> = {}): Exchange {
  return {
    method: 'POST',
    target: '/v1/audio/transcriptions',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: { state: 'unread', stream: body instanceof Readable ? body : Readable.from([body]) },
    signal: new AbortController().signal,
    ...given,
  }
}

const keepAll: FormRules = { passOn: () => false, check: () => undefined }

export function readParts(
  body: Readable | Buffer,
  sizes: Partial<Sizes> = {},
  rules: Partial<FormRules> = {},
): Promise<UploadedForm> {
  return readForm(exchangeOf(body), { ...defaultSizes, ...sizes }, { ...keepAll, ...rules })
}

/** Reads a whole multipart body with its content type. */
export function readBody(body: Buffer, type: string): Promise<UploadedForm> {
  return readForm(exchangeOf(body, { headers: { 'content-type': type } }), defaultSizes, keepAll)
}

/** The parts, with the bytes of their files. */
export async function contentOf(form: Form): Promise<WrittenPart[]> {
  const parts: WrittenPart[] = []
  for await (const part of form.parts()) {
    if (!isFile(part)) parts.push(text(part.name, part.value))
    else parts.push(file(part.name, await buffer(part.bytes), part.filename, part.type))
  }
  return parts
}

export interface TemporaryFolder {
  /** The names in the folder, and the unlinked files in it that this process has open, with their permissions. */
  left(): string[]
  remove(): void
}

/** Uses a new folder for temporary files until it is removed. */
export function temporaryFolder(): TemporaryFolder {
  const before = process.env['TMPDIR']
  const path = mkdtempSync(join(tmpdir(), 'modelhatch-test-'))
  process.env['TMPDIR'] = path
  return {
    left: () => [...readdirSync(path), ...openFiles().filter((name) => name.startsWith(path))],
    remove() {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      rmSync(path, { recursive: true })
    },
  }
}

function openFiles(): string[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = `/proc/self/fd/${fd}`
      return [`${readlinkSync(path)} ${(statSync(path).mode & 0o777).toString(8)}`]
    } catch {
      return []
    }
  })
}
