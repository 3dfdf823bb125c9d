import type { InspectedCall } from '../../inspect/contract.ts'
import type { MaskName, MaskPattern } from '../../inspect/mask/patterns.ts'
import type { LoggedContent } from './content.ts'
import type { ContentKeyStore, ContentStore } from './contract.ts'

/**
 * Changes content before it is kept. Undefined: nothing of it is kept. If it throws or rejects, nothing is kept either, and
 * `hooks.failure` gets the error.
 */
export type Redact = (content: LoggedContent) => LoggedContent | undefined | Promise<LoggedContent | undefined>

/** How requests and answers are kept. */
export interface ContentOptions {
  /**
   * The secret that the keys of the content are encrypted with, at least 32 characters; or several, of which the first one encrypts
   * and all decrypt.
   */
  readonly encryptionKey: string | readonly string[]
  /** Where content is kept. Default: `storage.content`, else the memory of this process. */
  readonly store?: ContentStore
  /** Where its keys are kept. Default: `storage.contentKeys`, else the memory of this process. */
  readonly keyStore?: ContentKeyStore
  /** Whose content is kept: that of these accounts, or of the calls for which the function returns true. Default: all. */
  readonly accounts?: readonly string[] | ((call: InspectedCall) => boolean)
  /** The share of calls whose content is kept, from 0 to 1. Default 1. */
  readonly sample?: number
  /**
   * What is taken from content before it is kept, in this order: names of `maskPatterns` and patterns of your own, whose finds become
   * such as `[EMAIL]`, and functions. Default: nothing.
   */
  readonly redact?: readonly (MaskName | MaskPattern | Redact)[]
  /** Days for which content is kept, in UTC and besides that of the request. Default 30. */
  readonly keepDays?: number
  /** Bytes from which on images, audio and files are kept by their hash alone. Default 4,096. */
  readonly mediaBytes?: number
  /** Maximum bytes of a request or an answer, without such media. Larger ones are dropped, and counted. Default 4 MiB. */
  readonly maxBytes?: number
  /** Maximum bytes of all calls that wait to be written; further ones are dropped, and counted. Default 64 MiB. */
  readonly queueBytes?: number
  /** Maximum number of calls that wait to be written. Default 10,000. */
  readonly queue?: number
}
