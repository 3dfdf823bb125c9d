/** What Google's two video APIs have in common: a finished job names a file, or contains the video itself. */
import type { Answer, VideoDialect } from '../../videos/dialect.ts'

export interface GoogleVideoDialect extends VideoDialect {
  /** The video in a response to `check`. */
  readonly videoIn: (answer: Answer) => FoundVideo
}

export interface FoundVideo {
  /** A file at Google, which requires our credentials. */
  readonly uri?: string | undefined
  /** The video itself. */
  readonly base64?: string | undefined
}
