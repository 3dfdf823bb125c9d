/** Mistakes that translators in the field have made, planted one by one: the kit must find each of them. */
import { GatewayError } from 'modelhatch'
import { anthropic, gemini, ProviderError, type Call, type ChatPiece, type Provider } from 'modelhatch/providers'
import { anthropicDialect, geminiDialect, openaiDialect, testProvider, type Dialect } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import type { ChatChunk, ChatRequest, ChunkChoice, FinishReason } from '../../src/wire/chat.ts'
import type { Usage } from '../../src/wire/usage.ts'

type Make = (baseURL: string) => Provider

const claude: Make = (baseURL) => anthropic({ baseURL })
const google: Make = (baseURL) => gemini({ baseURL })

/** Runs the one test of the kit with this name; undefined when it passes. */
async function failureOf(name: string, make: Make, dialect: Dialect): Promise<unknown> {
  const found: (() => Promise<void>)[] = []
  testProvider((each, body) => void (each === name && found.push(body)), make, dialect)
  expect(found).toHaveLength(1)
  try {
    await found[0]?.()
    return undefined
  } catch (error) {
    return error
  }
}

/** A provider whose answers or requests pass through something that spoils them. */
function spoiled(
  make: Make,
  { pieces = (each) => each, request = (each) => each, call = (each) => each, error = (each) => each }: Spoiler,
): Make {
  return (baseURL) => {
    const provider = make(baseURL)
    return {
      ...provider,
      async chat(given) {
        try {
          const spoiledCall = call({ ...given, request: request(given.request) })
          const answer = await provider.chat?.(spoiledCall)
          return pieces(answer as AsyncIterable<ChatPiece>)
        } catch (thrown) {
          throw error(thrown)
        }
      },
    }
  }
}

interface Spoiler {
  readonly pieces?: (pieces: AsyncIterable<ChatPiece>) => AsyncIterable<ChatPiece>
  readonly request?: (request: ChatRequest) => ChatRequest
  readonly call?: (call: Call<ChatRequest>) => Call<ChatRequest>
  readonly error?: (error: unknown) => unknown
}

/** Each choice of each chunk, changed or (undefined) lost. */
const choices = (change: (choice: ChunkChoice) => ChunkChoice | undefined): Spoiler => ({
  async *pieces(pieces) {
    for await (const piece of pieces) {
      const chunk = piece as ChatChunk
      yield { ...chunk, choices: (chunk.choices ?? []).flatMap((choice) => [change(choice) ?? []].flat()) }
    }
  },
})

const counts = (change: (usage: Usage) => Usage): Spoiler => ({
  async *pieces(pieces) {
    for await (const piece of pieces) {
      const { usage, ...chunk } = piece as ChatChunk
      yield { ...chunk, ...(usage && { usage: change(usage) }) }
    }
  },
})

const finishes = (from: FinishReason, to: FinishReason): Spoiler =>
  choices((choice) => (choice.finish_reason === from ? { ...choice, finish_reason: to } : choice))

const swallow: Spoiler = {
  async *pieces(pieces) {
    try {
      yield* pieces
    } catch {
      yield { choices: [{ delta: {}, finish_reason: 'stop' }] }
    }
  },
}

/** Reads each network piece as if events and characters never crossed its borders. */
const hasty =
  (split: (text: string) => string[]): Make =>
  (baseURL) => ({
    name: 'hasty',
    async *chat(call) {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        body: call.json({}) as Uint8Array<ArrayBuffer>,
      })
      for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const frame of split(new TextDecoder().decode(bytes))) {
          if (frame.startsWith('data: {')) yield parse(frame.slice(6))
        }
      }
    },
  })

function parse(text: string): ChatChunk {
  try {
    return JSON.parse(text) as ChatChunk
  } catch {
    return { choices: [] }
  }
}

const faults: readonly (readonly [fault: string, caughtBy: string, make: Make, dialect: Dialect])[] = [
  [
    'cached tokens are left out of the prompt',
    'tokens are counted once: caches in the prompt, thinking in the completion (streamed)',
    spoiled(
      claude,
      counts((usage) => ({
        ...usage,
        prompt_tokens: usage.prompt_tokens - (usage.prompt_tokens_details?.cached_tokens ?? 0),
      })),
    ),
    anthropicDialect,
  ],
  [
    'thoughts are left out of the completion',
    'tokens are counted once: caches in the prompt, thinking in the completion (whole)',
    spoiled(
      google,
      counts((usage) => ({ ...usage, completion_tokens: 10, total_tokens: usage.prompt_tokens + 10 })),
    ),
    geminiDialect,
  ],
  [
    'an answer with calls ends with "stop"',
    'parallel calls keep ids, order and arguments, and the text beside them (streamed)',
    spoiled(google, finishes('tool_calls', 'stop')),
    geminiDialect,
  ],
  [
    'a refusal of the model is a plain end',
    'an answer that ended by content_filter says so (whole)',
    spoiled(claude, finishes('content_filter', 'stop')),
    anthropicDialect,
  ],
  [
    'text beside calls is dropped',
    'parallel calls keep ids, order and arguments, and the text beside them (whole)',
    spoiled(
      claude,
      choices((choice) => (choice.delta?.content ? undefined : choice)),
    ),
    anthropicDialect,
  ],
  [
    'the second of two parallel calls is dropped',
    'parallel calls keep ids, order and arguments, and the text beside them (streamed)',
    spoiled(
      google,
      choices((choice) => (choice.delta?.tool_calls?.[0]?.index === 1 ? undefined : choice)),
    ),
    geminiDialect,
  ],
  [
    'both parallel calls are one',
    'parallel calls keep ids, order and arguments, and the text beside them (streamed)',
    spoiled(
      claude,
      choices((choice) => {
        const [call] = choice.delta?.tool_calls ?? []
        return call === undefined ? choice : { ...choice, delta: { tool_calls: [{ ...call, index: 0, id: 'call_1' }] } }
      }),
    ),
    anthropicDialect,
  ],
  [
    'thoughts stand in the text',
    'what the model thought is no part of the text (streamed)',
    spoiled(
      claude,
      choices(({ delta: { reasoning_content: thought, ...delta } = {}, ...choice }) => {
        return { ...choice, delta: thought ? { content: thought } : delta }
      }),
    ),
    anthropicDialect,
  ],
  [
    'a failure inside a stream is a plain end',
    'an error inside a stream ends it as an error, behind what came before it',
    spoiled(claude, swallow),
    anthropicDialect,
  ],
  [
    'a stream that breaks off is a plain end',
    'a stream that is ended before the answer is complete is an error, wherever that is',
    spoiled(google, swallow),
    geminiDialect,
  ],
  [
    'a connection that is cut is a plain end',
    'a stream that is cut before the answer is complete is an error, wherever that is',
    spoiled(claude, swallow),
    anthropicDialect,
  ],
  [
    'the words of the vendor are handed on',
    'a refusal of the vendor (invalid) becomes 400 invalid_request_error, in words of ours (whole)',
    spoiled(claude, {
      error: () => new GatewayError('invalid_request_error', { message: 'The vendor said: vendor-secret-7f3a' }),
    }),
    anthropicDialect,
  ],
  [
    'our own account running dry is told as the client’s',
    'a refusal of the vendor (empty account) becomes 503 service_unavailable, in words of ours (streamed)',
    spoiled(claude, { error: () => new GatewayError('insufficient_quota') }),
    anthropicDialect,
  ],
  [
    'an overloaded vendor is an error of the server',
    'a refusal of the vendor (overloaded) becomes 503 service_unavailable, in words of ours (whole)',
    spoiled(claude, { error: (error) => new Error('unknown status 529', { cause: error }) }),
    anthropicDialect,
  ],
  [
    'the wait the vendor asks for is forgotten',
    'a refusal of the vendor (rate) becomes 429 rate_limit_exceeded, in words of ours (whole)',
    spoiled(google, { error: () => new ProviderError('rate_limit_exceeded', { retry: 'same', retryAfterMs: 1_000 }) }),
    geminiDialect,
  ],
  [
    'only the first of several instructions is sent',
    'a conversation reaches the vendor whole (whole)',
    spoiled(google, {
      request: ({ messages, ...request }) => {
        return { ...request, messages: messages.filter(({ role }, index) => role !== 'system' || index === 0) }
      },
    }),
    geminiDialect,
  ],
  [
    'the picture is dropped',
    'a conversation reaches the vendor whole (streamed)',
    spoiled(claude, {
      request: ({ messages, ...request }) => {
        const [first, second, asked, ...rest] = messages
        const { content } = asked as unknown as { content: { type: string }[] }
        const text = content.filter(({ type }) => type === 'text')
        return { ...request, messages: [first, second, { ...asked, content: text }, ...rest] as never }
      },
    }),
    anthropicDialect,
  ],
  [
    'what an assistant said beside its calls is dropped',
    'a conversation reaches the vendor whole (whole)',
    spoiled(google, {
      request: ({ messages, ...request }) => {
        return { ...request, messages: messages.map((each) => (each.tool_calls ? { ...each, content: null } : each)) }
      },
    }),
    geminiDialect,
  ],
  [
    'an answer is held back until it is whole',
    'pieces are handed on as they come',
    spoiled(claude, {
      async *pieces(pieces) {
        const all: ChatPiece[] = []
        for await (const piece of pieces) all.push(piece)
        yield* all
      },
    }),
    anthropicDialect,
  ],
  [
    'the vendor goes on when the client has gone',
    'the vendor is let go when the client has gone',
    spoiled(google, {
      call: (call) => ({ ...call, signal: new AbortController().signal }),
      pieces: (pieces) => ({ [Symbol.asyncIterator]: () => ({ next: () => pieces[Symbol.asyncIterator]().next() }) }),
    }),
    geminiDialect,
  ],
  [
    'characters are decoded network piece by network piece',
    'a stream that arrives byte by byte tells the same',
    hasty((text) => text.split('\n\n')),
    openaiDialect,
  ],
  [
    'events that cross the border of a network piece are lost',
    'a stream with a call that arrives in two pieces, cut at every byte, tells the same',
    hasty((text) => text.split('\n\n')),
    openaiDialect,
  ],
]

/** Tests that wait for something that never comes from a faulty provider. */
const endless = new Set(['pieces are handed on as they come', 'the vendor is let go when the client has gone'])

describe('the kit finds', () => {
  test.each(faults)('%s', async (_, caughtBy, make, dialect) => {
    const running = failureOf(caughtBy, make, dialect)
    const failure = await (endless.has(caughtBy) ? Promise.race([running, patience()]) : running)
    expect(failure, `"${caughtBy}" passed`).toBeDefined()
  })
})

function patience(): Promise<Error> {
  return new Promise((resolve) => setTimeout(() => resolve(new Error('never ended')), 500))
}

test('and nothing in a provider that is wrapped alike but spoils nothing', async () => {
  const [, ...names] = new Set(faults.map(([, caughtBy]) => caughtBy).filter((name) => !name.includes('every byte')))
  for (const name of names) expect(await failureOf(name, spoiled(claude, {}), anthropicDialect), name).toBeUndefined()
})
