/** Vendors that only make videos. */
import { checkKnown, elsewhere, oneOf, secret, text, textByName, type Known } from '../../validation/known-options.ts'
import { Client, clientOptions, type ClientOptions } from '../client.ts'
import type { Provider } from '../contract.ts'
import { videoCosts } from '../costs/lists.ts'
import type { VideoDialect } from './dialect.ts'
import { gatewayVideos, openaiVideos, seedanceVideos, xaiVideos } from './dialects.ts'
import { httpVideo } from './http-video.ts'

export interface VideoVendorOptions extends Partial<Omit<ClientOptions, 'headers' | 'baseURL'>> {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined
  /** Default: the vendor's own. */
  readonly baseURL?: string | undefined
  /** The name in receipts and tasks. Tasks find their provider again by it: do not change it while tasks are open. */
  readonly name?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The vendor promises that a repeated `Idempotency-Key` begins no second job. Default: as its documentation says. */
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

/** A vendor that speaks OpenAI's `/v1/videos`. Default base URL `https://api.openai.com/v1`. */
export function openaiVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('openai', 'https://api.openai.com/v1', openaiVideos, options)
}

/** Another gateway of this kind: `baseURL` is what its clients use, `/v1` included. */
export function gatewayVideo(options: VideoVendorOptions & { readonly baseURL: string }): Provider {
  return vendor('gateway', options.baseURL, gatewayVideos, options)
}

/** xAI's Grok video models. */
export function xaiVideo(options: VideoVendorOptions = {}): Provider {
  return vendor('xai', 'https://api.x.ai/v1', xaiVideos, options)
}

/** Seedance on Volcengine Ark; for BytePlus give its base URL. */
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
    costs: videoCosts(dialect.sized === true),
    video: httpVideo(client, { ...dialect, submit: options.submit ?? dialect.submit }),
    close: () => client.close(),
  }
}
