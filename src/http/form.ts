/** A multipart form as those who pass it on see it: text fields and files, in the order they came. */

export type FormPart = TextPart | FilePart

export interface TextPart {
  readonly name: string
  readonly value: string
}

export interface FilePart {
  readonly name: string
  /** Without folders and control characters; may be empty. */
  readonly filename: string
  /** A well-formed media type without parameters; `application/octet-stream` where the client named none. */
  readonly type: string
  /** Bytes; undefined while the file has not come to its end. */
  readonly size: number | undefined
  /** Read it to its end, or leave it, before you ask for the next part. */
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface Form {
  /**
   * The parts. A form that is passed on while it comes can be read once, and then throws what is wrong with the upload:
   * a client that stopped sending, a file that is too large. A kept form can be read any number of times.
   */
  parts(): AsyncIterable<FormPart>
  /** All of it has come, and is kept in memory or on disk until the request ends. */
  readonly kept: boolean
}

/** The same form with other values for some text fields; `change` gives undefined for a field to be left out. */
export function amendForm(form: Form, change: (name: string, value: string) => string | undefined): Form {
  return {
    get kept() {
      return form.kept
    },
    async *parts() {
      for await (const part of form.parts()) {
        if (isFile(part)) {
          yield part
          continue
        }
        const value = change(part.name, part.value)
        if (value !== undefined) yield { name: part.name, value }
      }
    },
  }
}

/** For `amendForm`: the fields named here get these values, all others keep their own. */
export function changesTo(
  fields: Readonly<Record<string, unknown>>,
): (name: string, value: string) => string | undefined {
  return (name, value) => {
    if (!Object.hasOwn(fields, name)) return value
    return typeof fields[name] === 'string' ? fields[name] : JSON.stringify(fields[name])
  }
}

/** The same form with these text fields in front, in place of its own of the same names. */
export function prefixForm(form: Form, fields: Readonly<Record<string, unknown>>): Form {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  const rest = amendForm(form, (name, value) => (Object.hasOwn(fields, name) ? undefined : value))
  return {
    get kept() {
      return form.kept
    },
    async *parts() {
      for (const [name, value] of given) {
        yield { name, value: typeof value === 'string' ? value : JSON.stringify(value) }
      }
      yield* rest.parts()
    },
  }
}

export function isFile(part: FormPart): part is FilePart {
  return 'bytes' in part
}

/** A form as the walk of its request sees it: it may still be coming, and it holds what has to be given back. */
export interface OpenForm extends Form {
  /** Resolves when all of the form has come and was found good; rejects with what is wrong with it. */
  readonly arrived: Promise<void>
  /** Some of it was passed on without being kept: it cannot be sent a second time. */
  readonly spent: boolean
  /** Takes in what is still to come, so that the form can be sent more than once. */
  keep(): Promise<void>
  /** Gives back memory, files and the rest of the upload. Every reading of the form ends. A second call does no harm. */
  dispose(): void
}
