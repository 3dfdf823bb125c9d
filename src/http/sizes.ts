/** Size limits of one request. Parts are counted too, because a short body can hold very many of them. */
export interface Sizes {
  /** Bytes of a JSON body. Default 20 MiB, which allows a few inline images. */
  readonly jsonBytes: number
  /** Nesting levels of a JSON body. Default 64. */
  readonly jsonDepth: number
  /** Members of any one object or array in a JSON body. Default 10,000. */
  readonly jsonEntries: number
  /** Members of all objects and arrays of a JSON body together. Default 200,000. */
  readonly jsonNodes: number
  /** Bytes of a multipart body. Default 512 MiB. */
  readonly uploadBytes: number
  /**
   * Bytes of one upload's files held in memory; the rest is streamed to the provider or kept on disk. Default 1 MiB.
   */
  readonly uploadMemoryBytes: number
  /** Bytes of one file of a multipart body. Default 512 MiB. */
  readonly fileBytes: number
  /** Bytes of one text field of a multipart body; for all together the limit is `jsonBytes`. Default 2 MiB. */
  readonly fieldBytes: number
  /** Files in a multipart body. Default 32. */
  readonly formFiles: number
  /** Text fields in a multipart body. Default 1,000. */
  readonly formFields: number
  /** Allowed ratio of decompressed to compressed size, beyond the first decompressed MiB. Default 100. */
  readonly inflateRatio: number
  /** Milliseconds without data from the client before the request fails with 408. Default 30,000. */
  readonly bodyIdleMs: number
}

/** The defaults of `Sizes`. */
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
