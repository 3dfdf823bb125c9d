/** What Google's two ways to videos have in common: a finished job tells of a file, or holds the video itself. */
import type { Answer, VideoDialect } from '../../videos/dialect.ts'

export interface GoogleVideoDialect extends VideoDialect {
  /** The video in an answer to `check`. */
  readonly videoIn: (answer: Answer) => FoundVideo
}

export interface FoundVideo {
  /** A file of Google's, that only we may fetch. */
  readonly uri?: string | undefined
  readonly base64?: string | undefined
}
