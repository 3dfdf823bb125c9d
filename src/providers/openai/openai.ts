/** The provider for OpenAI, and for any vendor with an OpenAI-compatible API. */
import { createHash } from 'node:crypto'
import { checkKnown } from '../../records/known-options.ts'
import { Verbatim, type Provider, type Call, type ModerationAnswer } from '../contract.ts'
import { NativeMessages } from '../messages/native.ts'
import { listModels } from '../models.ts'
import { numberOf, stringOf, type Fields } from '../../wire/json.ts'
import { RelayedClient } from '../relayed-client.ts'
import { fileBatches } from './batches.ts'
import { embed } from './embeddings.ts'
import { editImages, generateImages, varyImage } from './images.ts'
import { costsOf, withPreset } from './presets.ts'
import { keyWarnings, pathWarnings } from '../option-warnings.ts'
import { rankingIn } from '../ranking.ts'
import { countResponse } from './input-tokens.ts'
import { compact, respond } from './responses.ts'
import { speak } from './speech.ts'
import { chat, complete, readComplete } from './text.ts'
import { transcribe } from './transcriptions.ts'
import { usesConversation, withOwnKey } from '../credentials/key.ts'
import { Vendor } from './vendor.ts'
import { videosOf } from './videos.ts'
import { type OpenAIOptions, known } from './options.ts'
import type { DecisionList, DecisionRequest } from '../../wire/decisions.ts'
import type { RerankAnswer, RerankRequest } from '../../wire/rerank.ts'
import type { ModerationList, ModerationRequest } from '../../wire/moderations.ts'

/**
 * Creates the provider for OpenAI, or for a vendor with an OpenAI-compatible API: by `preset` if it has one, otherwise by
 * `baseURL`. Throws a `TypeError` for an unknown option, an unknown preset or an invalid URL.
 *
 * @example
 * openai({ apiKey: process.env.OPENAI_API_KEY })
 * openai({ preset: 'groq', apiKey: process.env.GROQ_API_KEY })
 * openai({ baseURL: 'http://localhost:8000/v1' })
 */
export function openai(given: OpenAIOptions = {}): Provider {
  checkKnown('openai', given, known)
  const options = withPreset(given)
  return providerOf(given, options, new Vendor(options))
}

function providerOf(given: OpenAIOptions, options: OpenAIOptions, vendor: Vendor): Provider {
  const video = videosOf(vendor, given)
  const messages =
    options.messages === true
      ? new NativeMessages({ client: vendor.client, modelOf: (call) => vendor.modelOf(call) })
      : undefined
  return {
    name: options.name ?? 'openai',
    maker: makerOf(options),
    origin: vendor.client.origin,
    reportsSent: true,
    reportsCosts: mayTellCosts(options),
    releasesCalls: true,
    usesConversation: usesConversation(options.apiKey) || (options.promptCacheKey !== undefined && 'named'),
    chat: (call) => chat(vendor, call, options),
    chatTraits: { ...(options.wantsReasoning === true && { reasoning: true }), ...options.chatTraits },
    complete: (call) => complete(vendor, call, options),
    embed: (call) => embed(vendor, call, options),
    embeddingBatch: options.embeddingBatch,
    moderate: (call) => moderate(vendor, call),
    generateImages: (call) => generateImages(vendor, call),
    editImages: (call) => editImages(vendor, call),
    ...(mayBeOpenAI(given) && { varyImage: (call) => varyImage(vendor, call) }),
    speak: (call) => speak(vendor, call, options, hasResponses(options) || options.preset === 'azure'),
    transcribe: (call) => transcribe(vendor, call, '/audio/transcriptions', options),
    ...(translatesSpeech(given) && {
      translateSpeech: (call) => transcribe(vendor, call, '/audio/translations', options),
    }),
    ...(hasResponses(options) && {
      respond: (call) => respond(vendor, call, options),
      compact: (call) => compact(vendor, call),
      countResponse: (call) => countResponse(vendor, call),
    }),
    ...(messages && {
      message: (call) => messages.answer(call),
      countMessage: (call) => messages.count(call),
    }),
    // Azure lists what can be deployed, and serves deployments by names of their own.
    ...(given.preset !== 'azure' && {
      models: ({ signal }) => listModels(vendor.client, { path: '/models', field: 'data', signal }, modelIn),
    }),
    ...(mayBeOpenAI(given) && { decide: (call) => decide(vendor, call) }),
    ...(ranks(given) && { rerank: (call) => rerank(vendor, call) }),
    ...(video && { video }),
    ...(options.batches && {
      fileBatches: fileBatches(vendor.client, batchedBy(options), (relay) => {
        // A request must not be divided.
        const { embeddingBatch: _, ...own } = options
        return providerOf(given, own, new Vendor(own, (client) => new RelayedClient(client, relay)))
      }),
    }),
    costs: costsOf(given, hasResponses(options)),
    withKey(apiKey) {
      const { organization: _, project: __, ...rest } = given
      return openai(withOwnKey(rest, options.name ?? 'openai', apiKey))
    },
    warnings: [
      ...keyWarnings(options, given.baseURL === undefined && vendor.client.origin.startsWith('https:')),
      ...pathWarnings(given.baseURL),
    ],
    close: () => vendor.close(),
  }
}

/**
 * Encrypted reasoning is readable only within the organisation that produced it, so the maker includes a hash of the
 * account. Three characters of it are too few to reveal anything about the key.
 */
function makerOf(options: OpenAIOptions): string {
  const { preset, name = 'openai', baseURL, organization, project, apiKey, headers } = options
  if (!hasResponses(options)) return preset ?? name
  const account = JSON.stringify([baseURL, project, organization ?? [apiKey, headers]])
  return `${preset ?? name}-${createHash('sha256').update(account).digest('base64url').slice(0, 3)}`
}

function hasResponses({ responses, baseURL }: OpenAIOptions): boolean {
  return responses ?? (baseURL === undefined || URL.parse(baseURL)?.hostname === 'api.openai.com')
}

/** Requests that are translated have no batches. */
function batchedBy(options: OpenAIOptions): readonly string[] {
  return (options.batches ?? []).filter((path) => path !== '/v1/responses' || hasResponses(options))
}

/** OpenAI, and servers that may have the endpoints that no other vendor has: decisions, and variations of images. */
function mayBeOpenAI({ preset }: OpenAIOptions): boolean {
  return preset === undefined || preset === 'openai'
}

/** Servers that are known to rank documents, and those that may. */
function ranks({ preset, baseURL }: OpenAIOptions): boolean {
  if (preset === undefined) return baseURL !== undefined
  return ['llamacpp', 'openrouter', 'together', 'vllm'].includes(preset)
}

/** Vendors that say what calls cost, and those that may. */
function mayTellCosts({ preset, baseURL }: OpenAIOptions): boolean {
  return preset === undefined ? baseURL !== undefined : preset === 'openrouter' || preset === 'xai'
}

/** Vendors that transcribe, and have no endpoint for translations. */
function translatesSpeech({ preset }: OpenAIOptions): boolean {
  return preset !== 'mistral' && preset !== 'openrouter'
}

async function decide(vendor: Vendor, call: Call<DecisionRequest>): Promise<DecisionList> {
  return valueOf(await readComplete<DecisionList>(await vendor.post('/decisions', call), vendor.client.answerBytes))
}

async function rerank(vendor: Vendor, call: Call<RerankRequest>): Promise<RerankAnswer> {
  // Some servers answer with a list, which has no name.
  const started = { ...(await vendor.post('/rerank', call)), rename: undefined }
  return rankingIn(valueOf(await readComplete<object>(started, vendor.client.answerBytes)))
}

function valueOf<T>(answer: T | Verbatim<T>): T {
  return answer instanceof Verbatim ? answer.value : answer
}

function modelIn({ id, created, owned_by: owner }: Fields) {
  return { id: stringOf(id), created: Math.floor(numberOf(created) ?? 0), owned_by: stringOf(owner) ?? 'unknown' }
}

async function moderate(vendor: Vendor, call: Call<ModerationRequest>): Promise<ModerationAnswer> {
  return readComplete<ModerationList>(await vendor.post('/moderations', call), vendor.client.answerBytes)
}
