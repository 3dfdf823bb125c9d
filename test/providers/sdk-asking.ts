/** What models of the AI SDK get to see of a request, by its own mocks. */
import { simulateReadableStream } from 'ai'
import {
  MockEmbeddingModelV4,
  MockImageModelV4,
  MockLanguageModelV4,
  MockProviderV4,
  MockTranscriptionModelV4,
  MockVideoModelV4,
} from 'ai/test'
import { fromAiSdk } from 'modelhatch/ai-sdk'
import type { Asking, Sent } from './asking.ts'
import type { Asked } from './media-features.ts'
import { served } from './served.ts'

/** The options that a language model of this version gets. Throws what the gateway refused the request with. */
export async function askingSdk(version: 'v2' | 'v3' | 'v4', urls: boolean): Promise<Pick<Asking, 'sent'>> {
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

/** A provider of the SDK, whose models write down what they are asked. */
export function sdkMedia(asked: Asked[]): ReturnType<typeof fromAiSdk> {
  const note = (url: string) => async (options: object) => {
    asked.push({ url, text: JSON.stringify(options) })
    throw new Error('that was all')
  }
  const provider = new MockProviderV4({
    embeddingModels: { mock: new MockEmbeddingModelV4({ doEmbed: note('embedding') as never }) },
    imageModels: { mock: new MockImageModelV4({ doGenerate: note('image') }) as never },
    transcriptionModels: {
      mock: new MockTranscriptionModelV4({ doGenerate: note('transcription') }) as never,
    },
    languageModels: { mock: new MockLanguageModelV4() },
  })
  const film = new MockVideoModelV4({ doStart: note('video'), doStatus: note('video') })
  return fromAiSdk(Object.assign(provider, { videoModel: () => film }))
}
