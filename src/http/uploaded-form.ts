import { GatewayError, invalid } from '../errors.ts'
import type { FilePart, FormPart, OpenForm, TextPart } from './form.ts'
import { IncomingFile } from './incoming-file.ts'
import type { MultipartReader } from './multipart.ts'
import type { Sizes } from './sizes.ts'
import { Spool } from './spool.ts'
import { ignore } from './ignore.ts'

/** What an endpoint requires of its form. */
export interface FormRules {
  /**
   * Called when the files exceed the memory limit. Returns whether the fields read so far suffice to route the request;
   * then the rest is passed on as it arrives, and not kept.
   */
  readonly passOn: (form: UploadedForm) => boolean
  /** Throws 400 for an invalid form. Called before any of it is passed on, and again when it is complete (`whole`). */
  readonly check: (form: UploadedForm, whole: boolean) => void
}

interface StoredFile {
  readonly file: IncomingFile
  readonly spool: Spool
}

/**
 * A form that a client uploads. A small one is held in memory; the rest of a larger one is either passed on as it
 * arrives, or kept on disk.
 */
export class UploadedForm implements OpenForm {
  /** The values of each text field, in the order they arrived. */
  readonly fields: Map<string, string[]> = new Map()
  /** The field names of the files, in the order they arrived. */
  readonly files: string[] = []
  readonly arrived: Promise<void>
  readonly #arrival = Promise.withResolvers<void>()
  readonly #reader: MultipartReader
  readonly #rules: FormRules
  readonly #parts: (TextPart | StoredFile)[] = []
  /** Bytes of files that may still be held in memory. */
  #memoryLeft: number
  readonly #batchBytes: number
  /** The file whose rest is passed on as it arrives. */
  #live: StoredFile | undefined
  #complete = false
  #spent = false

  private constructor(reader: MultipartReader, rules: FormRules, sizes: Sizes) {
    this.#reader = reader
    this.#rules = rules
    this.#memoryLeft = sizes.uploadMemoryBytes
    this.#batchBytes = Math.min(256 * 1024, sizes.uploadMemoryBytes)
    this.arrived = this.#arrival.promise
    // Without a handler, a rejection that no code awaits would crash the host's process.
    this.arrived.catch(ignore)
  }

  /**
   * Reads as much of a form as needed. Throws 400 if it is malformed or against the rules, 408 and 413 like JSON
   * bodies.
   */
  static async read(reader: MultipartReader, rules: FormRules, sizes: Sizes): Promise<UploadedForm> {
    const form = new UploadedForm(reader, rules, sizes)
    try {
      await form.#takeIn(true)
    } catch (error) {
      form.dispose()
      throw error
    }
    return form
  }

  get kept(): boolean {
    return this.#complete && !this.#spent
  }

  get spent(): boolean {
    return this.#spent
  }

  async keep(): Promise<void> {
    const live = this.#live
    if (live === undefined) return
    this.#live = undefined
    await this.#store(live)
    await this.#takeIn(false)
  }

  async *parts(): AsyncGenerator<FormPart> {
    if (this.#spent) throw new GatewayError('service_unavailable', { cause: new Error('the upload was read twice') })
    for (const part of this.#parts) {
      if (!('spool' in part)) yield part
      else if (part !== this.#live) yield storedPart(part)
    }
    if (this.#live === undefined) return
    const { file, spool } = this.#live
    yield { ...describe(file), size: undefined, bytes: this.#passing(file, spool) }
    await file.skip()
    for (let part = await this.#next(); part !== undefined; part = await this.#next()) {
      if (!(part instanceof IncomingFile)) {
        yield part
        continue
      }
      yield { ...describe(part), size: undefined, bytes: this.#passing(part) }
      await part.skip()
    }
    this.#finish()
  }

  dispose(): void {
    const gone = new GatewayError('client_closed')
    this.#reader.fail(gone)
    this.#arrival.reject(gone)
    for (const part of this.#parts) if ('spool' in part) part.spool.dispose()
  }

  /** Sets a text field; replaces the values that the client sent. */
  set(name: string, value: string): void {
    this.fields.set(name, [value])
    const others = this.#parts.filter((part) => 'spool' in part || part.name !== name)
    this.#parts.splice(0, this.#parts.length, { name, value }, ...others)
  }

  /** Reads the form to its end, or to a file that exceeds the memory limit and may be passed on. */
  async #takeIn(mayPassOn: boolean): Promise<void> {
    for (let part = await this.#next(); part !== undefined; part = await this.#next()) {
      if (!(part instanceof IncomingFile)) {
        this.#parts.push(part)
        continue
      }
      const stored = { file: part, spool: new Spool(this.#batchBytes) }
      this.#parts.push(stored)
      const fits = await this.#hold(stored)
      if (!fits && mayPassOn && this.#rules.passOn(this)) {
        this.#rules.check(this, false)
        this.#live = stored
        return
      }
      if (!fits) await this.#store(stored)
      if (stored.spool.size > 0) continue
      if (part.filename !== '') throw invalid(`The file "${part.name}" is empty.`, part.name)
      // Browsers send an empty file without a name if the user chose none.
      this.#parts.pop()
      this.files.pop()
    }
    this.#finish()
  }

  #finish(): void {
    this.#complete = true
    this.#rules.check(this, true)
    this.#arrival.resolve()
  }

  async #next(): Promise<TextPart | IncomingFile | undefined> {
    const part = await this.#reader.next()
    if (part instanceof IncomingFile) this.files.push(part.name)
    else if (part !== undefined) this.fields.set(part.name, [...(this.fields.get(part.name) ?? []), part.value])
    return part
  }

  /**
   * Reads the file into memory. False as soon as the memory limit is exceeded; the piece that exceeded it is kept too.
   */
  async #hold({ file, spool }: StoredFile): Promise<boolean> {
    for (let piece = await file.next(); piece !== undefined; piece = await file.next()) {
      spool.hold(piece)
      this.#memoryLeft -= piece.length
      if (this.#memoryLeft < 0) return false
    }
    return true
  }

  async #store({ file, spool }: StoredFile): Promise<void> {
    for (let piece = await file.next(); piece !== undefined; piece = await file.next()) await spool.store(piece)
  }

  async *#passing(file: IncomingFile, head?: Spool): AsyncGenerator<Uint8Array> {
    if (head !== undefined) yield* head
    this.#spent = true
    for (let piece = await file.next(); piece !== undefined; piece = await file.next()) yield piece
  }
}

function storedPart({ file, spool }: StoredFile): FilePart {
  return { ...describe(file), size: spool.size, bytes: spool }
}

function describe({ name, filename, type }: IncomingFile): Pick<FilePart, 'name' | 'filename' | 'type'> {
  return { name, filename, type }
}
