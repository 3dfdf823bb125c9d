/** Providers for video APIs. */
import { keyWarnings } from '../option-warnings.ts'
import { checkKnown, elsewhere, oneOf, secret, text, textByName, type Known } from '../../records/known-options.ts'
import { Client, clientOptions, type ClientOptions } from '../client.ts'
import type { Provider } from '../contract.ts'
import { videoCosts } from '../costs/lists.ts'
import type { VideoDialect } from './dialect.ts'
import { gatewayVideos, openaiVideos, seedanceVideos, xaiVideos } from './dialects.ts'
import { httpVideo } from './http-video.ts'
import { klingCredentials, klingProvider } from './kling.ts'
import { lumaVideos } from './luma.ts'
import { minimaxProvider } from './minimax.ts'
import { runwayVersion, runwayVideos } from './runway.ts'
import type { VideoProvider } from '../video.ts'

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

/**
 * Creates a provider for Runway's video models. Throws a `TypeError` for an unknown option or an invalid URL.
 *
 * @example
 * runwayVideo({ apiKey: process.env.RUNWAYML_API_SECRET })
 */
export function runwayVideo(options: VideoVendorOptions = {}): Provider {
  const version = { 'x-runway-version': runwayVersion }
  return vendor('runway', 'https://api.dev.runwayml.com/v1', runwayVideos, options, version)
}

/**
 * Creates a provider for Luma's video models, over its Dream Machine API. Throws a `TypeError` for an unknown option or an invalid
 * URL.
 *
 * @example
 * lumaVideo({ apiKey: process.env.LUMAAI_API_KEY })
 */
export function lumaVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('luma', 'https://api.lumalabs.ai/dream-machine/v1', lumaVideos, options)
}

/**
 * Creates a provider for MiniMax's Hailuo video models; in China with its `baseURL`. Throws a `TypeError` for an unknown option or
 * an invalid URL.
 *
 * @example
 * minimaxVideo({ apiKey: process.env.MINIMAX_API_KEY })
 */
export function minimaxVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('minimax', 'https://api.minimax.io/v1', minimaxProvider, options)
}

/** Options of `klingVideo`. */
export interface KlingOptions extends VideoVendorOptions {
  /** The access key of an account, which signs each request with `secretKey`. Default: `apiKey` is sent. */
  readonly accessKey?: string | undefined
  /** The secret key that belongs to `accessKey`. */
  readonly secretKey?: string | undefined
}

/**
 * Creates a provider for Kling's video models. Throws a `TypeError` for an unknown option, an invalid URL, or one key without the
 * other.
 *
 * @example
 * klingVideo({ accessKey: process.env.KLING_ACCESS_KEY, secretKey: process.env.KLING_SECRET_KEY })
 */
export function klingVideo({ accessKey, secretKey, ...options }: KlingOptions = {}): Provider {
  if ((accessKey === undefined) !== (secretKey === undefined))
    throw new TypeError('klingVideo: set both "accessKey" and "secretKey"')
  const credentials = accessKey !== undefined && secretKey !== undefined && klingCredentials(accessKey, secretKey)
  const signed = { ...options, ...(credentials && { credentials }) }
  return vendor('kling', 'https://api-singapore.klingai.com/v1', klingProvider, signed)
}

type MakeVideo = (client: Client, submit: VideoDialect['submit'] | undefined) => VideoProvider

function vendor(
  name: string,
  baseURL: string,
  dialect: VideoDialect | MakeVideo,
  options: VideoVendorOptions,
  fixed: Readonly<Record<string, string>> = {},
): Provider {
  checkKnown(`${name}Video`, options, known)
  const headers = {
    ...fixed,
    ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
    ...options.headers,
  }
  const client = new Client({ ...options, baseURL: options.baseURL ?? baseURL, headers })
  const { submit } = options
  return {
    name: options.name ?? name,
    origin: client.origin,
    costs: videoCosts(typeof dialect === 'function' || dialect.sized === true),
    video:
      typeof dialect === 'function'
        ? dialect(client, submit)
        : httpVideo(client, { ...dialect, submit: submit ?? dialect.submit }),
    warnings: keyWarnings(options, options.baseURL === undefined),
    close: () => client.close(),
  }
}
