/**
 * OpenAI's image shapes. Unknown fields are kept, so every interface is open. Source: OpenAI's OpenAPI document,
 * CreateImageRequest, CreateImageEditRequest, EditImageBodyJsonParam, ImagesResponse, ImageGen…Event, ImageEdit…Event.
 */
import type { TokenUsage } from './token-usage.ts'

export interface ImageRequest {
  readonly model: string
  readonly prompt: string
  /** Images wanted, 1 to 10. Default 1. */
  readonly n?: number | null
  /** `<width>x<height>` in pixels, or `auto`. */
  readonly size?: string | null
  readonly quality?: string | null
  readonly response_format?: 'url' | 'b64_json' | null
  /** `png`, `jpeg`, `webp`. */
  readonly output_format?: string | null
  readonly stream?: boolean | null
  /** Unfinished images wanted in a stream, 0 to 3. */
  readonly partial_images?: number | null
  readonly background?: string | null
  readonly user?: string | null
  readonly [field: string]: unknown
}

/** An edit. Images come as files of a form (`call.form`), or, in a JSON request, as references. */
export interface ImageEditRequest extends ImageRequest {
  readonly images?: readonly ImageReference[]
  readonly mask?: ImageReference
}

export interface ImageReference {
  /** An address, or the image itself as a `data:` URL. */
  readonly image_url?: string
  readonly file_id?: string
}

export interface ImagesResponse {
  /** Seconds since the epoch. Filled in by the gateway if absent. */
  readonly created?: number
  readonly data?: readonly Image[]
  readonly size?: string
  readonly quality?: string
  readonly background?: string
  readonly output_format?: string
  readonly usage?: TokenUsage
  readonly [field: string]: unknown
}

/** One image: its bytes in base64, or an address. */
export interface Image {
  readonly b64_json?: string
  readonly url?: string
  readonly revised_prompt?: string
  readonly [field: string]: unknown
}

/** One event of an image stream: an unfinished image, or the finished one. */
export interface ImageEvent {
  /** `image_generation.partial_image`, `image_generation.completed`, and the same with `image_edit`. */
  readonly type: string
  readonly b64_json?: string
  /** Of an unfinished image, from 0. */
  readonly partial_image_index?: number
  /** Seconds since the epoch. */
  readonly created_at?: number
  readonly size?: string
  readonly quality?: string
  readonly background?: string
  readonly output_format?: string
  readonly usage?: TokenUsage
  readonly [field: string]: unknown
}
