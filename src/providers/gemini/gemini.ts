/** The provider for Google's models, on the Gemini API or on Vertex AI. */
import { usesConversation, withOwnKey } from '../credentials/key.ts'
import { checkKnown } from '../../records/known-options.ts'
import type { Provider } from '../contract.ts'
import { geminiCosts } from '../costs/lists.ts'
import { keyWarnings } from '../option-warnings.ts'
import { listModels } from '../models.ts'
import { stringOf } from '../../wire/json.ts'
import { embed } from './embed.ts'
import { countContent, generateContent, interact } from './generate.ts'
import { editImages, generateImages } from './images.ts'
import { traitsOf } from './models.ts'
import { speak } from './speech.ts'
import { Vendor } from './vendor.ts'
import { videosOf } from './videos/videos.ts'
import { type GeminiOptions, known } from './options.ts'

/**
 * Creates the provider for Google's models: texts, embeddings, images and videos. Throws a `TypeError` for an unknown
 * option or an invalid URL.
 *
 * @example
 * gemini({ apiKey: process.env.GEMINI_API_KEY })
 */
export function gemini(options: GeminiOptions = {}): Provider {
  checkKnown('gemini', options, known)
  const vendor = new Vendor(options)
  return {
    name: options.name ?? 'gemini',
    maker: 'google',
    origin: vendor.client.origin,
    reportsSent: true,
    releasesCalls: true,
    usesConversation: usesConversation(options.apiKey),
    generateContent: (call) => generateContent(vendor, call),
    ...(!vendor.isVertex && { interact: (call) => interact(vendor, call) }),
    contentTraits: (model) => ({ ...traitsOf(model), ...options.traits?.[model], dropParams: options.dropParams }),
    countContent: (call) => countContent(vendor, call),
    embed: (call) => embed(vendor, call),
    embeddingBatch: 100,
    generateImages: (call) => generateImages(vendor, call),
    editImages: (call) => editImages(vendor, call),
    speak: (call) => speak(vendor, call),
    video: videosOf(vendor, options.dropParams),
    models: ({ signal }) =>
      listModels(vendor.client, { path: '/models?pageSize=1000', field: 'models', signal }, ({ name }) => {
        return { id: stringOf(name)?.replace(/^models\//, ''), created: 0, owned_by: 'google' }
      }),
    costs: geminiCosts,
    withKey: (apiKey) => gemini(withOwnKey(options, options.name ?? 'gemini', apiKey)),
    warnings: keyWarnings(options, options.baseURL === undefined),
    close: () => vendor.close(),
  }
}
