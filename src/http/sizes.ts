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
  /** Bytes of all files and fields of a multipart body. Default 512 MiB. */
  readonly uploadBytes: number
  /** Milliseconds without a byte of the body before the request is refused with 408. Default 30,000. */
  readonly bodyIdleMs: number
}

export const defaultSizes: Sizes = {
  jsonBytes: 20 * 1024 * 1024,
  jsonDepth: 64,
  jsonEntries: 10_000,
  jsonNodes: 200_000,
  uploadBytes: 512 * 1024 * 1024,
  bodyIdleMs: 30_000,
}
