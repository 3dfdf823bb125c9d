import { createHash } from 'node:crypto'
import { isFile, type FilePart, type FormPart, type OpenForm } from '../../http/form.ts'

/** A file that has passed. */
export interface NotedFile {
  /** The name of its field. */
  readonly name: string
  readonly type: string
  /** SHA-256, in hexadecimal digits. */
  readonly digest: string
  readonly bytes: number
}

/** The same form; notes the files that were read to their end. */
export class NotedForm implements OpenForm {
  readonly #form: OpenForm
  /** By their place, because a form may be read several times. */
  readonly #files = new Map<number, NotedFile>()

  constructor(form: OpenForm) {
    this.#form = form
  }

  get files(): readonly NotedFile[] {
    return [...this.#files.values()]
  }

  get arrived(): Promise<void> {
    return this.#form.arrived
  }

  get spent(): boolean {
    return this.#form.spent
  }

  get kept(): boolean {
    return this.#form.kept
  }

  keep(): Promise<void> {
    return this.#form.keep()
  }

  dispose(): void {
    this.#form.dispose()
  }

  async *parts(): AsyncGenerator<FormPart> {
    let place = 0
    for await (const part of this.#form.parts()) {
      yield isFile(part) ? { ...part, bytes: this.#passing(part, place) } : part
      place++
    }
  }

  async *#passing({ name, type, bytes }: FilePart, place: number): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    let size = 0
    for await (const piece of bytes) {
      hash.update(piece)
      size += piece.length
      yield piece
    }
    this.#files.set(place, { name, type, digest: hash.digest('hex'), bytes: size })
  }
}
