/** A part of a multipart form: a text field or a file. */
export type FormPart = TextPart | FilePart

/** A text field of a form. */
export interface TextPart {
  /** The name of the field. */
  readonly name: string
  /** Its text. */
  readonly value: string
}

/** A file of a form. */
export interface FilePart {
  /** The name of the form field. */
  readonly name: string
  /** Without folders and control characters; may be empty. */
  readonly filename: string
  /** A well-formed media type without parameters; `application/octet-stream` if the client sent none. */
  readonly type: string
  /** Length in bytes; undefined while the file is still arriving. */
  readonly size: number | undefined
  /** The content. Read it before you request the next part; what is left unread is skipped. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A multipart form: text fields and files, in the order the client sent them. */
export interface Form {
  /**
   * The parts. A form with `kept` false can be read once, and reading throws if the upload fails: the client stops
   * sending, or a file is too large. A kept form can be read any number of times.
   */
  parts(): AsyncIterable<FormPart>
  /** Whether the whole form has arrived and stays in memory or on disk until the request ends. */
  readonly kept: boolean
}

/** The same form with other values for text fields. `change` returns the new value, or undefined to drop the field. */
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

/** A `change` for `amendForm` that gives the fields named here these values and keeps all others. */
export function changesTo(
  fields: Readonly<Record<string, unknown>>,
): (name: string, value: string) => string | undefined {
  return (name, value) => {
    if (!Object.hasOwn(fields, name)) return value
    return typeof fields[name] === 'string' ? fields[name] : JSON.stringify(fields[name])
  }
}

/** The same form with these text fields first; they replace its own fields of the same names. */
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

/** Whether a part is a file. */
export function isFile(part: FormPart): part is FilePart {
  return 'bytes' in part
}

/** The form of a request in progress: it may still be arriving, and it holds resources until `dispose`. */
export interface OpenForm extends Form {
  /** Resolves when the whole form has arrived and passed validation; rejects if it has not. */
  readonly arrived: Promise<void>
  /** Whether part of it was passed on without being kept, so that it cannot be sent again. */
  readonly spent: boolean
  /** Reads the rest into memory or onto disk, so that the form can be sent more than once. */
  keep(): Promise<void>
  /** Frees memory and files, discards the rest of the upload and ends every iteration. Safe to call twice. */
  dispose(): void
}
