/** A video request as providers receive it. The gateway converts the requests of all video routes to it. */
export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  /** Seconds. */
  readonly duration: number
  /** `<width>x<height>` in pixels, if the client or the registry specifies one. */
  readonly size?: string
  /** The first frame, as in OpenAI's JSON: an object with a URL or `data:` URL, or just the URL. */
  readonly input_reference?: unknown
  readonly [field: string]: unknown
}

/** The state of a video task. */
export type VideoState = 'pending' | 'processing' | 'completed' | 'failed'

/** The response of `POST` and `GET /v1/videos/generations`. */
export interface VideoTaskObject {
  readonly id: string
  /** The same as `id`, because some clients read this field. */
  readonly task_id: string
  /** The same as `id`, for xAI's clients. */
  readonly request_id: string
  readonly object: 'video.generation'
  readonly model: string
  readonly status: VideoState
  /** Seconds since the epoch. */
  readonly created_at: number
  /** When the task is deleted, in seconds since the epoch. */
  readonly expires_at: number
  /** Percent, 0 to 100, if the vendor reports it. */
  readonly progress?: number
  /** Where the finished video can be downloaded. */
  readonly video_url?: string
  /** Why the task failed. */
  readonly error?: string
}
