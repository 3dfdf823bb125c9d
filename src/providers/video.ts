/**
 * What a vendor of videos is to the gateway. The work outlives its request and its process, so everything a provider
 * needs to go on with it is one JSON value, the `operation`, which the task store keeps: any process can ask again.
 */
import type { Json } from '../wire/json.ts'
import type { VideoRequest } from '../wire/video.ts'

/** What may be asked of a video model. */
export interface VideoLimits {
  /** Seconds. Default 5, 10, 15, 20. */
  readonly durations?: readonly number[]
  /** `<width>x<height>`; the first is the default. Absent: the vendor decides. */
  readonly sizes?: readonly string[]
}

export interface VideoProvider {
  /**
   * Required. How a submission whose outcome is unknown can be cleared up, after a crash or a broken connection:
   * - `token`: `start` with the same `call.token` never begins a second job.
   * - `lookup`: `lookup` finds the job by `call.token` once `acceptBoundMs` has passed.
   * - `none`: it cannot; the task then fails, its hold is released, and the host is told.
   */
  readonly submit: 'token' | 'lookup' | 'none'
  /** For `lookup`: the longest time between sending a submission and the vendor's look-up knowing it. Default 60,000. */
  readonly acceptBoundMs?: number
  /** Optional. What may be asked of a model, by the vendor's name for it, where the host has said nothing (`video`). */
  limits?(model: string): VideoLimits | undefined

  /** Required. Submits the job and resolves to its operation. Throws as every provider method does. */
  start(call: VideoCall): Promise<Json>
  /** Required for `lookup`. The operation of the job that was submitted with this token; undefined when there is none. */
  lookup?(token: string, context: VideoContext): Promise<Json | undefined>
  /** Required. How the job stands. A job that the vendor does not know throws `not_found`. */
  check(operation: Json, context: VideoContext): Promise<VideoStatus>
  /** Optional. Stops the job. What it throws is ignored. */
  cancel?(operation: Json, context: VideoContext): Promise<void>
  /** Optional. The finished video, where its URL needs our credentials. `range` is the client's `Range` header. */
  content?(operation: Json, context: VideoContext & { readonly range?: string }): Promise<VideoContent>
}

export interface VideoCall extends VideoContext {
  readonly request: VideoRequest
  /** The vendor's name for the model. */
  readonly model: string
  /** The client chose the vendor's name itself: a model unknown to the vendor is then the client's mistake, a 404. */
  readonly openModel: boolean
  /** The task's id: what makes a repeated submission recognisable. */
  readonly token: string
}

export interface VideoContext {
  readonly signal: AbortSignal
}

export type VideoStatus =
  | {
      readonly state: 'pending' | 'processing'
      /** 0 to 100. */
      readonly progress?: number
      /** Replaces the stored operation. */
      readonly operation?: Json
    }
  | {
      readonly state: 'completed'
      /** Where clients can fetch the video without credentials. Absent when only `content` can. */
      readonly url?: string
      /** Seconds of video, where the vendor tells; otherwise the requested duration counts. */
      readonly seconds?: number
      readonly operation?: Json
    }
  | {
      readonly state: 'failed'
      /** In the gateway's own words, fit for the client. */
      readonly error: string
      /** A stable code such as `content_policy_violation`. Default `generation_failed`. */
      readonly code?: string
    }

export interface VideoContent {
  /** 200 or 206. */
  readonly status: number
  /** `content-type`, `content-length`, `content-range`, `accept-ranges`; no others are passed on. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}
