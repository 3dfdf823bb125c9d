/**
 * OpenAI's image shapes. Unknown fields are kept, so every interface is open. Source: OpenAI's OpenAPI document,
 * CreateImageRequest, CreateImageEditRequest, EditImageBodyJsonParam, CreateImageVariationRequest, ImagesResponse,
 * ImageGen…Event, ImageEdit…Event.
 */
import type { TokenUsage } from './usage.ts'

/** The fields of `POST /v1/images/variations`. The image is the file `image` of the form (`call.form`). */
export interface ImageVariationRequest {
  readonly model: string
  /** Number of images, 1 to 10. Default 1. */
  readonly n?: number | null
  /** `<width>x<height>` in pixels, or `auto`. */
  readonly size?: string | null
  readonly response_format?: 'url' | 'b64_json' | null
  readonly user?: string | null
  readonly [field: string]: unknown
}

/** The body of `POST /v1/images/generations`. */
export interface ImageRequest extends ImageVariationRequest {
  readonly prompt: string
  readonly quality?: string | null
  /** `png`, `jpeg`, `webp`. */
  readonly output_format?: string | null
  readonly stream?: boolean | null
  /** Number of partial images in a stream, 0 to 3. */
  readonly partial_images?: number | null
  readonly background?: string | null
}

/** The body of `POST /v1/images/edits`. The images are files of a form (`call.form`) or, in JSON, references. */
export interface ImageEditRequest extends ImageRequest {
  /** The images to edit, of a JSON request. */
  readonly images?: readonly ImageReference[]
  /** The area to edit, of a JSON request. */
  readonly mask?: ImageReference
}

/** An image in a JSON request. */
export interface ImageReference {
  /** A URL; a `data:` URL contains the image itself. */
  readonly image_url?: string
  /** The id of a file stored at the vendor. */
  readonly file_id?: string
}

/** The non-streaming response of the image endpoints. */
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

/** One generated image: its bytes in base64, or a URL. */
export interface Image {
  readonly b64_json?: string
  readonly url?: string
  /** The prompt that the vendor used in place of the client's. */
  readonly revised_prompt?: string
  readonly [field: string]: unknown
}

/** One event of an image stream: a partial image, or the final one. */
export interface ImageEvent {
  /** `image_generation.partial_image`, `image_generation.completed`, and the same with `image_edit`. */
  readonly type: string
  readonly b64_json?: string
  /** The index of a partial image, from 0. */
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
