/** Providers for video APIs. */
import { keyWarnings } from '../option-warnings.ts'
import { checkKnown, elsewhere, oneOf, secret, text, textByName, type Known } from '../../records/known-options.ts'
import { Client, clientOptions, type ClientOptions } from '../client.ts'
import type { Provider } from '../contract.ts'
import { videoCosts } from '../costs/lists.ts'
import type { VideoDialect } from './dialect.ts'
import { gatewayVideos, openaiVideos, seedanceVideos, xaiVideos } from './dialects.ts'
import { httpVideo } from './http-video.ts'

/** Options of the video providers. */
export interface VideoVendorOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>> {
  /** Sent as `Authorization: Bearer`. Default: not sent. */
  readonly apiKey?: string | undefined
  /** Default: the vendor's own API. */
  readonly baseURL?: string | undefined
  /**
   * The provider's name in receipts and tasks. Tasks find their provider by it, so do not change it while tasks are open.
   * Default: the vendor's name.
   */
  readonly name?: string
  /** Additional headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * See `VideoProvider.submit`. `token` is correct if the vendor guarantees that a repeated `Idempotency-Key` starts no
   * second job. Default: what the vendor documents.
   */
  readonly submit?: VideoDialect['submit']
}

const known: Known<VideoVendorOptions> = {
  apiKey: secret,
  baseURL: elsewhere,
  name: text,
  headers: textByName,
  submit: oneOf('token', 'lookup', 'none'),
  ...clientOptions,
}

/**
 * Creates a provider for a vendor with OpenAI's `/v1/videos`. Set `baseURL`: its default is `https://api.openai.com/v1`,
 * where OpenAI has shut this API down. Throws a `TypeError` for an unknown option or an invalid URL.
 */
export function openaiVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('openai', 'https://api.openai.com/v1', openaiVideos, options)
}

/**
 * Creates a provider for another modelhatch gateway. `baseURL` is the one that its clients use, including `/v1`. Throws a
 * `TypeError` for an unknown option or an invalid URL.
 */
export function gatewayVideo(options: VideoVendorOptions & { readonly baseURL: string }): Provider {
  return vendor('gateway', options.baseURL, gatewayVideos, options)
}

/**
 * Creates a provider for xAI's Grok video models. Throws a `TypeError` for an unknown option or an invalid URL.
 *
 * @example
 * xaiVideo({ apiKey: process.env.XAI_API_KEY })
 */
export function xaiVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('xai', 'https://api.x.ai/v1', xaiVideos, options)
}

/**
 * Creates a provider for Seedance on Volcengine Ark, or on BytePlus with its `baseURL`. Throws a `TypeError` for an unknown
 * option or an invalid URL.
 */
export function seedanceVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('seedance', 'https://ark.cn-beijing.volces.com/api/v3', seedanceVideos, options)
}

function vendor(name: string, baseURL: string, dialect: VideoDialect, options: VideoVendorOptions): Provider {
  checkKnown(`${name}Video`, options, known)
  const headers = {
    ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
    ...options.headers,
  }
  const client = new Client({ ...options, baseURL: options.baseURL ?? baseURL, headers })
  return {
    name: options.name ?? name,
    origin: client.origin,
    costs: videoCosts(dialect.sized === true),
    video: httpVideo(client, { ...dialect, submit: options.submit ?? dialect.submit }),
    warnings: keyWarnings(options, options.baseURL === undefined),
    close: () => client.close(),
  }
}
