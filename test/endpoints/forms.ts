/** Forms as clients send them, to a gateway with the key `sk-test`. */
import { buffer } from 'node:stream/consumers'
import { isFile, type Form } from '../../src/http/form.ts'

export type Entry = readonly [name: string, value: string | Blob, filename?: string]

export function formOf(...entries: Entry[]): FormData {
  const form = new FormData()
  for (const [name, value, filename] of entries) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename ?? 'file.bin')
  }
  return form
}

export function send(url: string, path: string, body: FormData | string, headers = {}): Promise<Response> {
  const authorization = 'Bearer sk-test'
  return fetch(`${url}/v1${path}`, { method: 'POST', body, headers: { authorization, ...headers } })
}

export async function errorOf(response: Response) {
  const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } }
  return { status: response.status, ...error }
}

/** The form that a provider received, as `[name, value]` or `[name, content, file name, type]`. */
export async function read(form: Form | undefined): Promise<unknown[][]> {
  const parts: unknown[][] = []
  for await (const part of form?.parts() ?? []) {
    if (isFile(part)) parts.push([part.name, (await buffer(part.bytes)).toString(), part.filename, part.type])
    else parts.push([part.name, part.value])
  }
  return parts
}
