/** Planted faults that providers elsewhere have had: the kit must find each of them. */
import { GatewayError } from 'modelhatch'
import {
  anthropic,
  defineProvider,
  gemini,
  ProviderError,
  type Call,
  type ChatPiece,
  type Provider,
} from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, testProvider, type Dialect } from 'modelhatch/testing'
import { describe, expect, test } from 'vitest'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import type { ChatChunk, ChatRequest, ChunkChoice, FinishReason } from '../../src/wire/chat.ts'
import type { Usage } from '../../src/wire/usage.ts'
import { translatedChat } from './translated-chats.ts'

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

/** What a provider of another format than that of chats has instead. */
const ownMethods: ReadonlySet<string> = new Set(['message', 'messageTraits', 'generateContent', 'contentTraits'])

/** A provider with faults planted in its requests or responses. */
function faulty(
  make: Make,
  { pieces = (each) => each, request = (each) => each, call = (each) => each, error = (each) => each }: Faults,
): Make {
  return (baseURL) => {
    const provider = make(baseURL)
    const faultless = Object.entries(provider).filter(([name]) => !ownMethods.has(name))
    return {
      ...(Object.fromEntries(faultless) as unknown as typeof provider),
      async chat(given) {
        try {
          const faultyCall = call({ ...given, request: request(given.request) })
          const answer = await (provider.chat === undefined
            ? translatedChat(provider, faultyCall)
            : provider.chat(faultyCall))
          return pieces(answer as AsyncIterable<ChatPiece>)
        } catch (thrown) {
          throw error(thrown)
        }
      },
    }
  }
}

interface Faults {
  readonly pieces?: (pieces: AsyncIterable<ChatPiece>) => AsyncIterable<ChatPiece>
  readonly request?: (request: ChatRequest) => ChatRequest
  readonly call?: (call: Call<ChatRequest>) => Call<ChatRequest>
  readonly error?: (error: unknown) => unknown
}

/** Changes each choice of each chunk, or drops it where `change` returns undefined. */
const choices = (change: (choice: ChunkChoice) => ChunkChoice | undefined): Faults => ({
  async *pieces(pieces) {
    for await (const piece of pieces) {
      const chunk = piece as ChatChunk
      yield { ...chunk, choices: (chunk.choices ?? []).flatMap((choice) => [change(choice) ?? []].flat()) }
    }
  },
})

const usages = (change: (usage: Usage) => Usage): Faults => ({
  async *pieces(pieces) {
    for await (const piece of pieces) {
      const { usage, ...chunk } = piece as ChatChunk
      yield { ...chunk, ...(usage && { usage: change(usage) }) }
    }
  },
})

const without = (usage: Usage, field: keyof Usage): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([name]) => name !== field)) as unknown as Usage

/** Usage with other details of the prompt. */
const withPrompt = (usage: Usage, details: Record<string, unknown>): Usage => ({
  ...usage,
  prompt_tokens_details: { ...usage.prompt_tokens_details, ...details },
})

const finishes = (from: FinishReason, to: FinishReason): Faults =>
  choices((choice) => (choice.finish_reason === from ? { ...choice, finish_reason: to } : choice))

const swallow: Faults = {
  async *pieces(pieces) {
    try {
      yield* pieces
    } catch {
      yield { choices: [{ delta: {}, finish_reason: 'stop' }] }
    }
  },
}

/** Reads each network chunk as if it held whole events and whole characters. */
const naive =
  (split: (text: string) => string[]): Make =>
  (baseURL) => ({
    name: 'naive',
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

const cases: readonly (readonly [fault: string, caughtBy: string, make: Make, dialect: Dialect])[] = [
  [
    'cached tokens are not counted in the prompt',
    'cached tokens are part of the prompt tokens, reasoning tokens part of the completion tokens (streamed)',
    faulty(
      claude,
      usages((usage) => ({
        ...usage,
        prompt_tokens: usage.prompt_tokens - (usage.prompt_tokens_details?.cached_tokens ?? 0),
      })),
    ),
    anthropicDialect,
  ],
  [
    'reasoning tokens are not counted in the completion',
    'cached tokens are part of the prompt tokens, reasoning tokens part of the completion tokens (non-streaming)',
    faulty(
      google,
      usages((usage) => ({ ...usage, completion_tokens: 10, total_tokens: usage.prompt_tokens + 10 })),
    ),
    geminiDialect,
  ],
  [
    'a response with tool calls finishes with "stop"',
    'parallel tool calls keep their ids, order and arguments, and the text before them (streamed)',
    faulty(google, finishes('tool_calls', 'stop')),
    geminiDialect,
  ],
  [
    'a content filter finishes with "stop"',
    'the finish reason "content_filter" is reported (non-streaming)',
    faulty(claude, finishes('content_filter', 'stop')),
    anthropicDialect,
  ],
  [
    'text before tool calls is dropped',
    'parallel tool calls keep their ids, order and arguments, and the text before them (non-streaming)',
    faulty(
      claude,
      choices((choice) => (choice.delta?.content ? undefined : choice)),
    ),
    anthropicDialect,
  ],
  [
    'the second of two parallel calls is dropped',
    'parallel tool calls keep their ids, order and arguments, and the text before them (streamed)',
    faulty(
      google,
      choices((choice) => (choice.delta?.tool_calls?.[0]?.index === 1 ? undefined : choice)),
    ),
    geminiDialect,
  ],
  [
    'reasoning is part of the text',
    'reasoning is separate from the text (streamed)',
    faulty(
      claude,
      choices(({ delta: { reasoning_content: thought, ...delta } = {}, ...choice }) => {
        return { ...choice, delta: thought ? { content: thought } : delta }
      }),
    ),
    anthropicDialect,
  ],
  [
    'an error in the middle of a stream is a normal end',
    'an error in the middle of a stream ends it with an error, after the content so far',
    faulty(claude, swallow),
    anthropicDialect,
  ],
  [
    'a truncated stream is a normal end',
    'a stream that is ended before the response is complete is an error, after any frame',
    faulty(google, swallow),
    geminiDialect,
  ],
  [
    'a cut connection is a normal end',
    'a stream that is cut before the response is complete is an error, after any frame',
    faulty(claude, swallow),
    anthropicDialect,
  ],
  [
    'the vendor’s text is passed on',
    'the vendor error "invalid" becomes 400 invalid_request_error, without any vendor text (non-streaming)',
    faulty(claude, {
      error: () => new GatewayError('invalid_request_error', { message: 'The vendor said: vendor-secret-7f3a' }),
    }),
    anthropicDialect,
  ],
  [
    'no credit in the gateway’s own account is reported as the client’s',
    'the vendor error "empty account" becomes 503 service_unavailable, without any vendor text (streamed)',
    faulty(claude, { error: () => new GatewayError('insufficient_quota') }),
    anthropicDialect,
  ],
  [
    'an overloaded vendor becomes a 500',
    'the vendor error "overloaded" becomes 503 service_unavailable, without any vendor text (non-streaming)',
    faulty(claude, { error: (error) => new Error('unknown status 529', { cause: error }) }),
    anthropicDialect,
  ],
  [
    'the vendor’s retry-after is ignored',
    'the vendor error "rate" becomes 429 rate_limit_exceeded, without any vendor text (non-streaming)',
    faulty(google, { error: () => new ProviderError('rate_limit_exceeded', { retry: 'same', retryAfterMs: 1_000 }) }),
    geminiDialect,
  ],
  [
    'only the first of several instructions is sent',
    'the whole conversation reaches the vendor (non-streaming)',
    faulty(google, {
      request: ({ messages, ...request }) => {
        return { ...request, messages: messages.filter(({ role }, index) => role !== 'system' || index === 0) }
      },
    }),
    geminiDialect,
  ],
  [
    'the image is dropped',
    'the whole conversation reaches the vendor (streamed)',
    faulty(claude, {
      request: ({ messages, ...request }) => {
        const [first, second, user, ...rest] = messages
        const { content } = user as unknown as { content: { type: string }[] }
        const text = content.filter(({ type }) => type === 'text')
        return { ...request, messages: [first, second, { ...user, content: text }, ...rest] as never }
      },
    }),
    anthropicDialect,
  ],
  [
    'the assistant’s text before its calls is dropped',
    'the whole conversation reaches the vendor (non-streaming)',
    faulty(google, {
      request: ({ messages, ...request }) => {
        return { ...request, messages: messages.map((each) => (each.tool_calls ? { ...each, content: null } : each)) }
      },
    }),
    geminiDialect,
  ],
  [
    'the stream is buffered until it is complete',
    'each piece is passed on when it arrives',
    faulty(claude, {
      async *pieces(pieces) {
        const all: ChatPiece[] = []
        for await (const piece of pieces) all.push(piece)
        yield* all
      },
    }),
    anthropicDialect,
  ],
  [
    'the vendor request continues after the client disconnects',
    'the connection to the vendor is closed when the client disconnects',
    faulty(google, {
      call: (call) => ({ ...call, signal: new AbortController().signal }),
      pieces: (pieces) => ({ [Symbol.asyncIterator]: () => ({ next: () => pieces[Symbol.asyncIterator]().next() }) }),
    }),
    geminiDialect,
  ],
  [
    'each network chunk is decoded as separate text',
    'a stream that arrives byte by byte is read correctly',
    naive((text) => text.split('\n\n')),
    openaiDialect,
  ],
  [
    'events split across network chunks are lost',
    'a stream split in two at any byte is read correctly',
    naive((text) => text.split('\n\n')),
    openaiDialect,
  ],
  [
    'one-hour writes are reported as five-minute ones',
    'tokens written to a cache for one hour are charged apart from those written for five minutes (streamed)',
    faulty(
      claude,
      usages((usage) => withPrompt(usage, { cache_write_1h_tokens: 0 })),
    ),
    anthropicDialect,
  ],
  [
    'tokens written to a cache are not part of the prompt',
    'tokens written to a cache are charged apart (non-streaming)',
    faulty(
      claude,
      usages((usage) => ({
        ...usage,
        prompt_tokens: usage.prompt_tokens - (usage.prompt_tokens_details?.cache_write_tokens ?? 0),
      })),
    ),
    anthropicDialect,
  ],
  [
    'tokens written to a cache are reported as read from it',
    'tokens written to a cache are charged apart (streamed)',
    faulty(
      claude,
      usages((usage) => withPrompt(usage, { cached_tokens: 700, cache_write_tokens: 0 })),
    ),
    anthropicDialect,
  ],
  [
    'calls of the vendor’s tools are not counted',
    'searches of the vendor are charged by the call (streamed)',
    faulty(
      claude,
      usages((usage) => without(usage, 'server_tool_use')),
    ),
    anthropicDialect,
  ],
  [
    'audio is reported as text',
    'audio tokens are charged apart (non-streaming)',
    faulty(
      google,
      usages((usage) => withPrompt(usage, { audio_tokens: 0 })),
    ),
    geminiDialect,
  ],
  [
    'cached audio is reported as cached text',
    'cached audio tokens are charged apart (streamed)',
    faulty(
      google,
      usages((usage) => withPrompt(usage, { cached_tokens_details: { audio_tokens: 0 } })),
    ),
    geminiDialect,
  ],
  [
    'images in the output are reported as text',
    'image tokens are charged apart (streamed)',
    faulty(
      google,
      usages((usage) => ({ ...usage, completion_tokens_details: { reasoning_tokens: 20 } })),
    ),
    geminiDialect,
  ],
  [
    'the service tier is not reported',
    'the service tier that the vendor applied is reported (non-streaming)',
    faulty(
      claude,
      usages((usage) => without(usage, 'service_tier')),
    ),
    anthropicDialect,
  ],
]

/** Tests that never end with a faulty provider. */
const endless = new Set([
  'each piece is passed on when it arrives',
  'the connection to the vendor is closed when the client disconnects',
])

describe('the kit finds', () => {
  test.each(cases)('%s', async (_, caughtBy, make, dialect) => {
    const running = failureOf(caughtBy, make, dialect)
    const failure = await (endless.has(caughtBy) ? Promise.race([running, timeout()]) : running)
    expect(failure, `"${caughtBy}" passed`).toBeDefined()
  })
})

function timeout(): Promise<Error> {
  return new Promise((resolve) => setTimeout(() => resolve(new Error('did not end')), 500))
}

test('finds nothing in a wrapped provider without faults', async () => {
  for (const [name, dialect] of new Map(cases.map(([, caughtBy, , dialect]) => [caughtBy, dialect]))) {
    if (name.includes('any byte')) continue
    const [make, format] = dialect === geminiDialect ? [google, dialect] : [claude, anthropicDialect]
    expect(await failureOf(name, faulty(make, {}), format), name).toBeUndefined()
  }
})

test('a failure has what the gateway reported as its cause', async () => {
  const wrong = () =>
    defineProvider({
      name: 'wrong',
      async *generate() {
        yield { kind: 'txt' } as never
      },
    })
  const failed = await failureOf('reasoning is separate from the text (non-streaming)', wrong, openaiDialect)
  expect(String(Object(failed).cause)).toContain('the provider "wrong" broke the contract of generate')
})

test('a wait that the vendor asks for reaches the client', () => {
  const asked = { retry: 'next', vendorWaitMs: 7_000 } as const
  expect(new ProviderError('rate_limit_exceeded', asked).retryAfterMs).toBe(7_000)
  expect(new ProviderError('rate_limit_exceeded', { ...asked, retryAfterMs: 1_000 }).retryAfterMs).toBe(1_000)
})
