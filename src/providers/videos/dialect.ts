/** Vendors of videos over HTTP differ in paths, fields and words. A dialect says how; the rest is the same for all. */
import type { FaultReader } from '../answer.ts'
import type { VendorRequest } from '../client.ts'
import type { VideoCall, VideoProvider, VideoStatus } from '../video.ts'

export type Ask = Omit<VendorRequest, 'signal' | 'body'> & { readonly body?: object }

export type Answer = Readonly<Record<string, unknown>>

export interface VideoDialect {
  /** See `VideoProvider.submit`. */
  readonly submit: VideoProvider['submit']
  readonly start: (call: VideoCall) => Ask
  /** The job's id in the answer to a submission; undefined where it holds none. */
  readonly idOf: (answer: Answer) => string | undefined
  /** How an id, which comes from the vendor, stands in a path. Default: as one segment. */
  readonly pathOf?: (id: string) => string
  /** `id` is fit for a path. */
  readonly check: (id: string) => Ask
  /** The fields of an `operation` in it are kept beside the id. */
  readonly statusOf: (answer: Answer, httpStatus: number) => VideoStatus
  readonly cancel?: (id: string) => Ask
  readonly content?: (id: string) => Ask
  /** The vendor's errors in OpenAI's words. Default: they are such. */
  readonly fault?: FaultReader
  /** A resolution is held against the size, and refused where they differ. Default false. */
  readonly sized?: boolean
  /** An answer may hold the video itself. Default false: 1 MiB is enough. */
  readonly large?: boolean
}
