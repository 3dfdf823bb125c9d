/** The provider for Google's models, on the Gemini API or on Vertex AI. */
import { checkKnown } from '../../records/known-options.ts'
import { readJsonObject, requireSuccess } from '../answer.ts'
import { isMediaType } from '../../http/media-type.ts'
import type { ChatPiece, Provider } from '../contract.ts'
import { readValues } from '../events.ts'
import { geminiCosts } from '../costs/lists.ts'
import { unreadable } from '../failure.ts'
import { isRecord } from '../../wire/json.ts'
import type { Transfer } from '../transfer.ts'
import { forceParse } from '../yielding.ts'
import type { ModelObject } from '../../wire/model.ts'
import { send } from './send.ts'
import { countChat } from './count.ts'
import { embed } from './embed.ts'
import { editImages, generateImages } from './images.ts'
import { ResponseReader, type ReaderOptions } from './reader.ts'
import { Vendor } from './vendor.ts'
import { videosOf } from './videos/videos.ts'
import { type GeminiOptions, known } from './options.ts'

/**
 * Creates the provider for Google's models: chats, embeddings, images and videos. Throws a `TypeError` for an unknown
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
    chatTraits: { topK: true, richResults: true, maxStops: 5 },
    reportsSent: true,
    releasesCalls: true,
    async chat(call) {
      await forceParse(call)
      const { transfer, ...reading } = await send(vendor, call, options)
      return piecesOf(transfer, vendor.client.answerBytes, { ...reading, failure: vendor.failure(call) })
    },
    countChat: (call) => countChat(vendor, call, options),
    embed: (call) => embed(vendor, call),
    embeddingBatch: 100,
    generateImages: (call) => generateImages(vendor, call),
    editImages: (call) => editImages(vendor, call),
    video: videosOf(vendor, options.dropParams),
    models: ({ signal }) => listModels(vendor, signal),
    costs: geminiCosts,
    close: () => vendor.close(),
  }
}

/** Reads an event stream, one response, or a list of responses. The content type decides. */
async function* piecesOf(transfer: Transfer, maxBytes: number, options: ReaderOptions): AsyncGenerator<ChatPiece> {
  const reader = new ResponseReader(options)
  if (isMediaType(transfer.contentType, 'text/event-stream')) {
    for await (const responses of readValues(transfer)) yield* reader.push(responses)
  } else {
    const { value } = await readJsonObject(transfer, maxBytes)
    yield* reader.push(Array.isArray(value) ? value : [value])
  }
  yield* reader.end()
}

async function listModels({ client }: Vendor, signal: AbortSignal): Promise<ModelObject[]> {
  const transfer = await client.send({ method: 'GET', path: '/models?pageSize=1000', signal })
  await requireSuccess(transfer)
  const list = (await readJsonObject(transfer, client.answerBytes)).value as { models?: unknown }
  if (!Array.isArray(list.models)) throw unreadable("the vendor's response has no list of models", 'next')
  return list.models.filter(isRecord).flatMap(({ name }) => {
    if (typeof name !== 'string') return []
    return [{ id: name.replace(/^models\//, ''), object: 'model' as const, created: 0, owned_by: 'google' }]
  })
}
