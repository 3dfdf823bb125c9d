/**
 * The cost of a chunk from each vendor's bytes to the client's frames, without sockets: parsing, translating, completing and
 * serialising. All run in one process, so the results can only be compared with one another.
 */
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { begin, chunkFrames } from '../../src/endpoints/chunk-stream.ts'
import { ChatStreamState } from '../../src/endpoints/chat/stream-state.ts'
import { gemini } from '../../src/formats/gemini/gemini.ts'
import { messages } from '../../src/formats/messages/messages.ts'
import type { ChatPiece } from '../../src/providers/contract.ts'
import { readFrames } from '../../src/providers/openai/frames.ts'
import { anthropicDialect, openaiDialect, type Dialect } from '../../src/testing/index.ts'
import { chatChunksOf } from '../formats/chat-chunks.ts'
import { median } from './table.ts'

interface Translator {
  readonly name: string
  readonly dialect: Dialect
  readonly read: (source: AsyncIterable<Buffer>) => AsyncIterable<ChatPiece>
}

const failure = () => new Error('unexpected failure')

const translators: readonly Translator[] = [
  { name: 'openai, passed on', dialect: openaiDialect, read: (source) => readFrames(source, { failure }) },
  { name: 'openai, parsed', dialect: openaiDialect, read: (source) => readFrames(source, { failure, parsed: true }) },
  {
    name: 'anthropic',
    dialect: anthropicDialect,
    read: (source) => chatChunksOf(source, messages.eventReader({ maker: 'anthropic', failure })),
  },
  {
    name: 'gemini',
    dialect: geminiDialect,
    read: (source) => chatChunksOf(source, gemini.eventReader({ maker: 'google', failure })),
  },
]

/** Pieces of text in one response. */
const chunks = 500

export interface Translated {
  readonly name: string
  /** Microseconds of CPU per chunk, with one and with twenty chunks per network read. */
  readonly single: number
  readonly together: number
}

export async function measureTranslators(rounds: number): Promise<Translated[]> {
  const out: Translated[] = []
  for (const { name, dialect, read } of translators) {
    const { frames } = dialect.stream({ text: 'word '.repeat(chunks) })
    const costs = { single: [] as number[], together: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      costs.single.push(await cost(slabsOf(frames, 1), read))
      costs.together.push(await cost(slabsOf(frames, 20), read))
    }
    // The first rounds warm up the JIT compiler.
    const settled = (all: number[]) => median(all.slice(Math.floor(rounds / 3)))
    out.push({ name, single: settled(costs.single), together: settled(costs.together) })
  }
  return out
}

function slabsOf(frames: readonly string[], size: number): Buffer[] {
  const count = Math.ceil(frames.length / size)
  return Array.from({ length: count }, (_, at) => Buffer.from(frames.slice(at * size, (at + 1) * size).join('')))
}

/** Microseconds of CPU per chunk, over enough responses to be measurable. */
async function cost(slabs: readonly Buffer[], read: Translator['read']): Promise<number> {
  const answers = 20
  const before = process.cpuUsage()
  for (let answer = 0; answer < answers; answer++) {
    let bytes = 0
    for await (const frame of framesOf(read(arriving(slabs)))) bytes += frame.length
    if (bytes === 0) throw new Error('the translator produced no output')
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (answers * chunks)
}

async function* arriving(slabs: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const slab of slabs) yield slab
}

async function* framesOf(pieces: AsyncIterable<ChatPiece>): AsyncGenerator<string | Uint8Array> {
  const state = new ChatStreamState({ id: 'chatcmpl-bench', created: 1, model: 'bench' }, false)
  const stream = await begin(pieces, state, () => true)
  const order = { field: () => undefined, promptTokens: 0 } as never
  yield* chunkFrames(stream, { order, meter: { usage: undefined, textBytes: 0 } })
}
