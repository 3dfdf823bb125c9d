/** How much one request may carry. Counts are limited beside bytes: a small body can hold very many tiny parts. */
export interface Sizes {
  /** Bytes of a JSON body. Default 20 MiB, room for a few inline images. */
  readonly jsonBytes: number
  /** Nesting of a JSON body. Default 64. */
  readonly jsonDepth: number
  /** Members of any one object or array in a JSON body. Default 10,000. */
  readonly jsonEntries: number
  /** Members of all objects and arrays of a JSON body together. Default 200,000. */
  readonly jsonNodes: number
  /** Bytes of a multipart body. Default 512 MiB. */
  readonly uploadBytes: number
  /** Bytes of the files of one upload that are held in memory; more is passed on as it comes, or kept on disk. Default 1 MiB. */
  readonly uploadMemoryBytes: number
  /** Bytes of one file of a multipart body. Default 512 MiB. */
  readonly fileBytes: number
  /** Bytes of one text field of a multipart body; all of them together may take `jsonBytes`. Default 2 MiB. */
  readonly fieldBytes: number
  /** Files in a multipart body. Default 32. */
  readonly formFiles: number
  /** Text fields in a multipart body. Default 1,000. */
  readonly formFields: number
  /** How many times its size a compressed body may grow, beyond the first MiB. Default 100. */
  readonly inflateRatio: number
  /** Milliseconds without a byte of the body before the request is refused with 408. Default 30,000. */
  readonly bodyIdleMs: number
}

export const defaultSizes: Sizes = {
  jsonBytes: 20 * 1024 * 1024,
  jsonDepth: 64,
  jsonEntries: 10_000,
  jsonNodes: 200_000,
  uploadBytes: 512 * 1024 * 1024,
  uploadMemoryBytes: 1024 * 1024,
  fileBytes: 512 * 1024 * 1024,
  fieldBytes: 2 * 1024 * 1024,
  formFiles: 32,
  formFields: 1_000,
  inflateRatio: 100,
  bodyIdleMs: 30_000,
}
