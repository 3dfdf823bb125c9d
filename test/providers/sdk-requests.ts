/** Records the requests that models of the AI SDK receive, with the SDK's own mocks. */
import { simulateReadableStream } from 'ai'
import {
  MockEmbeddingModelV4,
  MockImageModelV4,
  MockLanguageModelV4,
  MockProviderV4,
  MockRerankingModelV4,
  MockSpeechModelV4,
  MockTranscriptionModelV4,
  MockVideoModelV4,
} from 'ai/test'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import type { VendorRequests, Sent } from './vendor-requests.ts'
import type { MediaRequest } from './media-features.ts'
import { served } from './served.ts'

/** The options that a language model of this version receives. Throws the gateway's error if it rejects the request. */
export async function sdkRequests(version: 'v2' | 'v3' | 'v4', urls: boolean): Promise<Pick<VendorRequests, 'sent'>> {
  const model = new MockLanguageModelV4({
    supportedUrls: urls ? { 'image/*': [/^https:/] } : {},
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [] }) }),
  })
  Object.assign(model, { specificationVersion: version })
  const { client } = await served({ model: fromAiSdk(model) })
  return {
    async sent(request) {
      const before = model.doStreamCalls.length
      const error: unknown = await client.chat.completions
        .create({ model: 'model', messages: [{ role: 'user', content: 'Hi' }], ...request })
        .catch((thrown: unknown) => thrown)
      const options = model.doStreamCalls[before] as Sent
      if (options === undefined) throw error
      return options
    },
  }
}

/** A provider of the SDK whose models record their requests. */
export function sdkMedia(requests: MediaRequest[]): ReturnType<typeof fromAiSdk> {
  const record = (url: string) => async (options: object) => {
    requests.push({ url, text: JSON.stringify(options) })
    throw new Error('recorded, not served')
  }
  const provider = new MockProviderV4({
    rerankingModels: { mock: new MockRerankingModelV4({ doRerank: record('reranking') }) },
    embeddingModels: { mock: new MockEmbeddingModelV4({ doEmbed: record('embedding') as never }) },
    imageModels: { mock: new MockImageModelV4({ doGenerate: record('image') }) as never },
    transcriptionModels: {
      mock: new MockTranscriptionModelV4({ doGenerate: record('transcription') }) as never,
    },
    languageModels: { mock: new MockLanguageModelV4() },
  })
  const film = new MockVideoModelV4({ doStart: record('video'), doStatus: record('video') })
  const speaker = new MockSpeechModelV4({ doGenerate: record('speech') })
  return fromAiSdk(Object.assign(provider, { speechModel: () => speaker, videoModel: () => film }))
}
