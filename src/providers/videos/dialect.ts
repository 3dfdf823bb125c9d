/** The parts of a video API over HTTP that differ between vendors: paths, fields and states. */
import type { FaultReader } from '../vendor-error.ts'
import type { VendorRequest } from '../client.ts'
import type { VideoCall, VideoProvider, VideoStatus } from '../video.ts'
import type { Fields } from '../../wire/json.ts'

export type JobRequest = Omit<VendorRequest, 'signal' | 'body'> & { readonly body?: object }

export interface VideoDialect {
  /** See `VideoProvider.submit`. */
  readonly submit: VideoProvider['submit']
  readonly start: (call: VideoCall) => JobRequest
  /** The job's id in the response to a submission; undefined if there is none. */
  readonly idOf: (answer: Fields) => string | undefined
  /** Converts an id, which the vendor chose, to a safe part of a path. Default: percent-encoding as one segment. */
  readonly pathOf?: (id: string) => string
  /** The request for the job's status. `id` is the result of `pathOf`. */
  readonly check: (id: string) => JobRequest
  /** The fields of its `operation` are stored in addition to the id. */
  readonly statusOf: (answer: Fields, httpStatus: number) => VideoStatus
  readonly cancel?: (id: string) => JobRequest
  readonly content?: (id: string) => JobRequest
  /** The HTTP status of an error that the vendor sends with status 200. Default: it sends none. */
  readonly errorIn?: (answer: Fields) => number | undefined
  /** See `VideoProvider.limits`. */
  readonly limits?: VideoProvider['limits']
  /** Translates the vendor's errors. Default: they are in OpenAI's format. */
  readonly fault?: FaultReader
  /** True if `start` rejects a resolution that contradicts the size. Default false. */
  readonly sized?: boolean
  /** True if a response may contain the video itself. Default false, which limits responses to 1 MiB. */
  readonly large?: boolean
}
