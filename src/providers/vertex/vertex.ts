/** The provider for the models of Google's Vertex AI: Claude, Gemini, and others over its OpenAI-compatible API. */
import { messagesProvider, type AnthropicOptions } from '../anthropic/anthropic.ts'
import type { Provider } from '../contract.ts'
import { keyCredentials } from '../credentials/key.ts'
import { gemini } from '../gemini/gemini.ts'
import type { GeminiOptions } from '../gemini/options.ts'
import type { MessageAddress } from '../messages/native.ts'
import { openai } from '../openai/openai.ts'
import type { OpenAIOptions } from '../openai/options.ts'
import { googleKey, type GoogleCredentials } from './google.ts'

/** The project at Google. */
export interface VertexAccess {
  /** Its id. */
  readonly project: string
  /** Such as `us-east5`, `us`, `eu` or `global`. */
  readonly location: string
  /** A client of `google-auth-library`, such as `new GoogleAuth({ scopes: 'https://www.googleapis.com/auth/cloud-platform' })`. */
  readonly credentials: GoogleCredentials
  /** Replaces the origin, such as for a private endpoint. Default: Google's for the location. */
  readonly origin?: string | undefined
}

type Own = keyof VertexAccess | 'apiKey' | 'baseURL' | 'preset' | 'keyHeader'

/** Options of `vertex` for Claude, over Anthropic's Messages. */
export interface VertexAnthropicOptions extends VertexAccess, Omit<AnthropicOptions, Own> {
  /** The API that the models are called by. */
  readonly api: 'anthropic'
}

/** Options of `vertex` for Gemini, over Google's own API. */
export interface VertexGeminiOptions extends VertexAccess, Omit<GeminiOptions, Own> {
  /** The API that the models are called by. */
  readonly api: 'gemini'
}

/** Options of `vertex` for the other models, over the API in OpenAI's format. Their names begin with the publisher: `meta/…`. */
export interface VertexOpenAIOptions extends VertexAccess, Omit<OpenAIOptions, Own> {
  /** The API that the models are called by. */
  readonly api: 'openai'
}

/** Options of `vertex`: those of the API that the models are called by, and the access to it. */
export type VertexOptions = VertexAnthropicOptions | VertexGeminiOptions | VertexOpenAIOptions

/**
 * Creates the provider for models on Vertex AI. Throws a `TypeError` for an unknown option, or an invalid project or location.
 *
 * @example
 * vertex({ api: 'anthropic', project: 'me', location: 'global', credentials: new GoogleAuth({ scopes }) })
 */
export function vertex(options: VertexOptions): Provider {
  const { project, location, credentials: client, origin, ...given } = options
  if (!/^[a-z0-9][a-z0-9.:-]*$/i.test(project)) throw new TypeError('vertex: "project" must be the id of a project')
  if (!/^[a-z0-9-]+$/.test(location)) throw new TypeError('vertex: "location" must be one of Google, such as "global"')
  const place = `projects/${project}/locations/${location}`
  const base = `${origin ?? `https://${hostOf(location)}`}/v1`
  const shared = { name: 'vertex', credentials: keyCredentials(googleKey(client)) }
  if (given.api === 'anthropic') {
    const { api: _, ...rest } = given
    const baseURL = `${base}/${place}/publishers/anthropic/models`
    return ofGoogle(messagesProvider({ ...shared, ...rest, baseURL }, rawPredict))
  }
  if (given.api === 'gemini') {
    const { api: _, ...rest } = given
    return ofGoogle(gemini({ ...shared, ...rest, baseURL: `${base}/${place}/publishers/google` }))
  }
  if (given.api !== 'openai') throw new TypeError('vertex: "api" must be "anthropic", "gemini" or "openai"')
  const { api: _, ...rest } = given
  return ofGoogle(openai({ ...shared, ...rest, baseURL: `${base}beta1/${place}/endpoints/openapi` }))
}

/** Google lists no models at these addresses, and takes no API keys. */
const absent = new Set(['models', 'withKey'])

function ofGoogle(provider: Provider): Provider {
  return Object.fromEntries(Object.entries(provider).filter(([name]) => !absent.has(name))) as unknown as Provider
}

function hostOf(location: string): string {
  if (location === 'global') return 'aiplatform.googleapis.com'
  return /^(?:us|eu)$/.test(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`
}

/** The model is in the path, except where tokens are counted. Source: Anthropic's guide to Claude on Vertex AI. */
function rawPredict(model: string, { path, stream, changes }: MessageAddress): MessageAddress {
  const versioned = { ...changes, anthropic_version: 'vertex-2023-10-16' }
  if (path !== '/messages') return { path: '/count-tokens:rawPredict', stream, changes: { ...versioned, model } }
  const method = stream ? 'streamRawPredict' : 'rawPredict'
  return { path: `/${encodeURIComponent(model)}:${method}`, stream, changes: { ...versioned, model: undefined } }
}
