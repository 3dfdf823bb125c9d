/**
 * A small model of our own: no key, no network, and the same answer to the same question. It is what `npm start` serves
 * and what tests and readers can rely on; `answer.ts` holds its rules.
 */
import type { Call, ChatPiece, Provider } from '../contract.ts'
import type { ChatRequest } from '../../wire/chat.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { ModelObject } from '../../wire/model.ts'
import { chat } from './chat.ts'
import { embed } from './embed.ts'

export interface DemoOptions {
  /** Milliseconds between two tokens of a stream; whole answers come at once. Default 10. */
  readonly paceMs?: number
  /** The name in receipts. Default `demo`. */
  readonly name?: string
}

export interface DemoProvider extends Provider {
  chat(call: Call<ChatRequest>): AsyncIterable<ChatPiece>
  embed(call: Call<EmbeddingRequest>): EmbeddingList
}

/** Its models by name, for a `'demo/*'` entry. Any other name is answered as well. */
const models: readonly ModelObject[] = ['demo', 'demo-embedding'].map((id) => ({
  id,
  object: 'model',
  created: 1_764_547_200,
  owned_by: 'modelhatch',
}))

export function demo(options: DemoOptions = {}): DemoProvider {
  const { paceMs = 10, name = 'demo' } = options
  return {
    name,
    chat: (call) => chat(call, call.stream ? paceMs : 0),
    embed: ({ request }) => embed(request),
    models: async () => models,
  }
}
