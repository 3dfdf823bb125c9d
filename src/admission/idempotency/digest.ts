import { createHash } from 'node:crypto'
import { isFile, type FilePart, type OpenForm } from '../../http/form.ts'

/** The body of a request after it was read. */
export interface ReadBody {
  /** The body as JSON text, with some top-level fields replaced. */
  readonly json: (changes: Record<string, unknown>) => Uint8Array
  /** An uploaded form, in place of JSON. */
  readonly form?: OpenForm
}

/**
 * SHA-256 of a request, in hex, to detect a different request with the same key. Of a form it covers fields and files
 * but not the boundary, which differs each time; the form is received completely for this.
 */
export async function digestOf({ form, json }: ReadBody): Promise<string> {
  return form === undefined ? createHash('sha256').update(json({})).digest('hex') : digestOfForm(form)
}

async function digestOfForm(form: OpenForm): Promise<string> {
  const hash = createHash('sha256')
  await form.keep()
  for await (const part of form.parts()) {
    const content = isFile(part)
      ? [part.name, part.filename, part.type, await digestOfFile(part)]
      : [part.name, part.value]
    hash.update(JSON.stringify(content))
  }
  return hash.digest('hex')
}

async function digestOfFile({ bytes }: FilePart): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}
