/** The part of the provider contract for videos. */
import type { Json } from '../wire/json.ts'
import type { VideoRequest } from '../wire/video.ts'

/** The durations and sizes that clients may request from a video model. */
export interface VideoLimits {
  /** In seconds. Default 5, 10, 15, 20. */
  readonly durations?: readonly number[]
  /** As `<width>x<height>`; the first is the default of a request. Default: the vendor decides. */
  readonly sizes?: readonly string[]
}

/** What a provider knows of a video model, and holds requests to. What is absent is not known. */
export interface VideoAbilities extends VideoLimits {
  /** What a size must be to have a name at the vendor. */
  readonly shapes?: VideoShapes
  /** The frames that a request may contain as images. Empty: the model gets only text. */
  readonly frames?: readonly VideoFrame[]
  /** The names of further fields, besides sizes and their parts. All others are rejected. */
  readonly fields?: readonly string[]
}

/** A frame of the video that a request may contain as an image. */
export type VideoFrame = 'first_frame' | 'last_frame'

/** The sizes of a vendor that has names for them instead of pixels. */
export interface VideoShapes {
  /** The aspect ratios, such as `16:9`. */
  readonly ratios: readonly string[]
  /** The vendor's names for resolutions, keyed by the pixels of the shorter side. */
  readonly resolutions: ReadonlyMap<number, string>
}

/**
 * Generates videos, as jobs that outlive their request and the process. All that a provider needs to continue a job is
 * one JSON value, the `operation`. The task store keeps it, so any process can call the other methods with it.
 */
export interface VideoProvider {
  /**
   * How the gateway resolves a submission with an unknown outcome, after a crash or a broken connection:
   * - `token`: it calls `start` again; the same `call.token` never starts a second job.
   * - `lookup`: it calls `lookup` with `call.token` once `acceptBoundMs` has passed.
   * - `none`: it cannot. The task fails, its hold is released, and the host is notified.
   */
  readonly submit: 'token' | 'lookup' | 'none'
  /**
   * For `lookup`: upper bound of the time from sending a submission until the vendor's lookup finds it, in milliseconds.
   * Default 60,000.
   */
  readonly acceptBoundMs?: number
  /**
   * What a model can do, by the vendor's name for it; undefined for one that makes no videos. The host may set other durations and
   * sizes (`video` of a model). Models without either are not in `GET /v1/videos/models`.
   */
  limits?(model: string): VideoAbilities | undefined

  /** Submits a job and resolves to its operation. Throws like every method of a provider. */
  start(call: VideoCall): Promise<Json>
  /** Required for `submit: 'lookup'`. The operation of the job submitted with this token; undefined if there is none. */
  lookup?(token: string, context: VideoContext): Promise<Json | undefined>
  /** The job's current status. Throws a `ProviderError` with the code `not_found` if the vendor does not know the job. */
  check(operation: Json, context: VideoContext): Promise<VideoStatus>
  /**
   * Cancels the job, best effort: errors are ignored. The gateway goes on to call `check`, and charges a task that its owner
   * has deleted unless the job is then reported as `failed`, because many vendors charge for a job that they have begun.
   */
  cancel?(operation: Json, context: VideoContext): Promise<void>
  /** Downloads the finished video, if its URL requires our credentials. `range` is the client's `Range` header. */
  content?(operation: Json, context: VideoContext & { readonly range?: string | undefined }): Promise<VideoContent>
}

/** One submission of a video job. */
export interface VideoCall extends VideoContext {
  /** The validated request, including unknown fields. */
  readonly request: VideoRequest
  /** The vendor's name for the model. */
  readonly model: string
  /** The client chose the vendor's model name itself, so a model that the vendor does not know is the client's error: a 404. */
  readonly openModel: boolean
  /** The task's id, the same for every submission of the task. */
  readonly token: string
}

/** The context of every call to a `VideoProvider`. */
export interface VideoContext {
  /** Aborted when a deadline passes or the gateway closes. */
  readonly signal: AbortSignal
  /** Headers to add to each request to the vendor, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The status of a video job. */
export type VideoStatus =
  | {
      /** `pending`: the job waits to start. `processing`: it has started. */
      readonly state: 'pending' | 'processing'
      /** In percent, 0 to 100. */
      readonly progress?: number
      /** Replaces the stored operation. */
      readonly operation?: Json
    }
  | {
      /** The video is finished. */
      readonly state: 'completed'
      /** Where clients can download the video without credentials. Absent if only `content` can. */
      readonly url?: string
      /** The video's length in seconds. Default: the requested duration. */
      readonly seconds?: number
      /** Replaces the stored operation. */
      readonly operation?: Json
    }
  | {
      /** The job has failed and will not continue. */
      readonly state: 'failed'
      /** A message for the client, in the provider's own words rather than the vendor's. */
      readonly error: string
      /** A stable code such as `content_policy_violation`. Default `generation_failed`. */
      readonly code?: string
    }

/** A finished video, or the requested range of it. */
export interface VideoContent {
  /** 200 or 206. */
  readonly status: number
  /** Only `content-type`, `content-length`, `content-range` and `accept-ranges` are passed on. */
  readonly headers: Readonly<Record<string, string>>
  /** The video's bytes. */
  readonly body: AsyncIterable<Uint8Array>
}
