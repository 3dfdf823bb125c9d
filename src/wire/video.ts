/** The video shapes of the specification, and of OpenAI's `/v1/videos`. */

/** A video request in the one form that providers get, whichever route it came by. */
export interface VideoRequest {
  readonly model: string
  readonly prompt: string
  /** Seconds. */
  readonly duration: number
  /** `<width>x<height>`, where the client or the registry chose one. */
  readonly size?: string
  /** A picture to begin with, as OpenAI's JSON has it: a URL or a data URL. A bare string means the same. */
  readonly input_reference?: unknown
  readonly [field: string]: unknown
}

export type VideoState = 'pending' | 'processing' | 'completed' | 'failed'

/** What `POST` and `GET /v1/videos/generations` answer. */
export interface VideoTaskObject {
  readonly id: string
  /** The same as `id`: clients look for either. */
  readonly task_id: string
  /** The same, for xAI's clients. */
  readonly request_id: string
  readonly object: 'video.generation'
  readonly model: string
  readonly status: VideoState
  /** Seconds since the epoch. */
  readonly created_at: number
  /** When the id stops being found, seconds since the epoch. */
  readonly expires_at: number
  /** 0 to 100, where the vendor tells it. */
  readonly progress?: number
  readonly video_url?: string
  readonly error?: string
}
