/** What Google's two video APIs have in common: a finished job names a file, or contains the video itself. */
import type { VideoDialect } from '../../videos/dialect.ts'
import type { Fields } from '../../../wire/json.ts'

export interface GoogleVideoDialect extends VideoDialect {
  /** The video in a response to `check`. */
  readonly videoIn: (answer: Fields) => FoundVideo
}

export interface FoundVideo {
  /** A file at Google, which requires our credentials. */
  readonly uri?: string | undefined
  /** The video itself. */
  readonly base64?: string | undefined
}
