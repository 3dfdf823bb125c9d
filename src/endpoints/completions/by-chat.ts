/** Text completions for providers that only support chat. */
import type { Tally } from '../../money/tally.ts'
import { sumOfUsages } from '../../wire/counts.ts'
import { GatewayError, invalid } from '../../errors.ts'
import type { Call, CompletionAnswer, Provider } from '../../providers/contract.ts'
import { billed } from '../../providers/failure.ts'
import type { ChatMessage, ChatRequest } from '../../wire/chat.ts'
import type { CompletionRequest, TextChoice, TextChunk, TextCompletion } from '../../wire/completions.ts'
import type { Usage } from '../../wire/usage.ts'
import { callChat } from '../chat/call-chat.ts'
import { checkMadeChat } from '../chat/request.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { chunksOf } from '../chunk-stream.ts'
import { replace } from '../order.ts'
import { mapConcurrently, merge } from '../concurrency.ts'
import { textFinishOf } from './stream-state.ts'

const maxConcurrentChats = 4
/** Each prompt is one call to the vendor. */
const maxPrompts = 128
/** The most characters of prompts that `echo` may return in all choices together. */
const maxEchoed = 1_000_000

/**
 * Completes each prompt by a chat with one user message. `echo` is supported; fields that need token-level access are
 * rejected with 400.
 */
export async function completeByChat(
  provider: Provider,
  call: Call<CompletionRequest>,
  context: AnswerContext,
): Promise<CompletionAnswer> {
  const { request } = call
  const prompts = promptsOf(request)
  checkSupported(request)
  checkMadeChat(chatRequestOf(request, ''))
  checkTotals(request, prompts)
  const bytes = prompts.reduce((sum, prompt) => sum + Buffer.byteLength(prompt), 0)
  const chats = prompts.map((prompt, index) => {
    const share = prompts.length === 1 ? 1 : Buffer.byteLength(prompt) / Math.max(1, bytes)
    return new TextChat({ provider, prompt, index, share, call, context })
  })
  return call.stream ? streamed(chats, call.signal) : whole(chats, call.signal)
}

async function whole(chats: readonly TextChat[], signal: AbortSignal): Promise<TextCompletion> {
  const parts = await mapConcurrently(chats, maxConcurrentChats, signal, async (chat, _, own) => chat.whole(own)).catch(
    (error: unknown) => {
      throw billed(error, sumOfKnown(chats))
    },
  )
  const usage = totalOf(chats)
  // The caller fills in id and model.
  return { choices: parts.flat(), ...(usage && { usage }), ...tierOf(chats) } as unknown as TextCompletion
}

async function* streamed(chats: readonly TextChat[], signal: AbortSignal): AsyncGenerator<TextChunk, void, void> {
  const own = new AbortController()
  const both = AbortSignal.any([signal, own.signal])
  try {
    yield* merge(
      chats.map((chat) => () => chat.chunks(both)),
      maxConcurrentChats,
    )
    const usage = totalOf(chats)
    if (usage !== undefined) yield { choices: [], usage, ...tierOf(chats) }
  } catch (error) {
    throw billed(error, sumOfKnown(chats))
  } finally {
    own.abort(new GatewayError('client_closed'))
  }
}

interface TextChatParts {
  readonly provider: Provider
  readonly prompt: string
  readonly index: number
  /** The prompt's share of the bytes of all prompts, 0 to 1. */
  readonly share: number
  readonly call: Call<CompletionRequest>
  readonly context: AnswerContext
}

/** The chat for one prompt. */
class TextChat {
  readonly tally: Tally = { usage: undefined, textBytes: 0 }
  readonly #provider: Provider
  readonly #call: Call<CompletionRequest>
  readonly #prompt: string
  readonly #share: number
  readonly #context: AnswerContext
  /** The index of the prompt's first choice. */
  readonly #first: number
  readonly #echo: string

  constructor({ provider, prompt, index, share, call, context }: TextChatParts) {
    this.#provider = provider
    this.#call = call
    this.#prompt = prompt
    this.#share = share
    this.#context = { ...context, meter: this.tally }
    this.#first = index * (call.request.n ?? 1)
    this.#echo = call.request.echo === true ? prompt : ''
  }

  async whole(signal: AbortSignal): Promise<TextChoice[]> {
    const answer = await this.#ask(signal)
    if (answer.kind === 'stream') throw new TypeError('a non-streaming call returned a stream')
    return answer.whole.choices.map(({ index, message, finish_reason: reason }) => ({
      text: this.#echo + (message.content ?? message.refusal ?? ''),
      index: this.#first + index,
      logprobs: null,
      finish_reason: textFinishOf(reason) ?? 'stop',
    }))
  }

  async *chunks(signal: AbortSignal): AsyncGenerator<TextChunk, void, void> {
    const answer = await this.#ask(signal)
    if (answer.kind === 'whole') throw new TypeError('a streaming call returned no stream')
    const started = new Set<number>()
    for await (const { choices = [] } of chunksOf(answer.stream, this.tally)) {
      for (const { index = 0, delta = {}, finish_reason: reason } of choices) {
        const echo = started.has(index) ? '' : this.#echo
        const text = echo + (delta.content ?? '') + (delta.refusal ?? '')
        if (text === '' && !reason) continue
        started.add(index)
        const finish = textFinishOf(reason)
        yield { choices: [{ text, index: this.#first + index, logprobs: null, finish_reason: finish }] }
      }
    }
  }

  #ask(signal: AbortSignal) {
    const request = chatRequestOf(this.#call.request, this.#prompt)
    const call = { ...replace(this.#call, request, signal), sent: () => this.#call.sent?.(this.#share) }
    return callChat(this.#provider, call, this.#context)
  }
}

/** The chat request for a prompt. Unknown fields are passed on, too. */
function chatRequestOf(request: CompletionRequest, prompt: string): ChatRequest {
  const { prompt: _, suffix: __, echo: ___, best_of: ____, logprobs: _____, ...rest } = request
  const message: ChatMessage = { role: 'user', content: prompt }
  return { ...rest, messages: [message] }
}

function promptsOf({ prompt }: CompletionRequest): readonly string[] {
  const prompts = typeof prompt === 'string' ? [prompt] : (prompt ?? [])
  if (prompts.length === 0) throw invalid('Missing required parameter: "prompt".', 'prompt')
  if (prompts.every((each) => typeof each === 'string')) return prompts
  throw new GatewayError('unsupported_value', {
    param: 'prompt',
    message: 'This model does not support a prompt of tokens. Send the prompt as text.',
  })
}

/** Throws 400 for fields that a chat cannot provide, such as the log probabilities of a prompt. */
function checkSupported(request: CompletionRequest): void {
  const { suffix, logprobs, best_of: bestOf, n, max_tokens: limit } = request
  const used = { suffix: Boolean(suffix), logprobs: typeof logprobs === 'number', best_of: (bestOf ?? 0) > (n ?? 1) }
  for (const [param, isUsed] of Object.entries(used)) {
    if (!isUsed) continue
    throw new GatewayError('unsupported_parameter', { param, message: `This model does not support "${param}".` })
  }
  if (limit === 0) {
    throw new GatewayError('unsupported_value', {
      param: 'max_tokens',
      message: '"max_tokens" must be at least 1 for this model.',
    })
  }
}

function checkTotals({ echo, n }: CompletionRequest, prompts: readonly string[]): void {
  if (prompts.length > maxPrompts) {
    throw invalid(`"prompt" must have at most ${maxPrompts} prompts for this model.`, 'prompt')
  }
  const echoed = prompts.reduce((sum, { length }) => sum + length, 0) * (n ?? 1)
  if (echo !== true || echoed <= maxEchoed) return
  const message = `With "echo", the prompts must have at most ${maxEchoed} characters in all choices together.`
  throw invalid(message, 'echo')
}

/** The total usage of all prompts; undefined if it is unknown for one of them. */
function totalOf(chats: readonly TextChat[]): Usage | undefined {
  return chats.some(({ tally }) => tally.usage === undefined) ? undefined : sumOfKnown(chats)
}

function sumOfKnown(chats: readonly TextChat[]): Usage | undefined {
  return sumOfUsages(chats.flatMap(({ tally }) => tally.usage ?? []))
}

/** The service tier that the vendor reported last. */
function tierOf(chats: readonly TextChat[]): { service_tier?: string } {
  const tier = chats.findLast(({ tally }) => tally.serviceTier !== undefined)?.tally.serviceTier
  return tier === undefined ? {} : { service_tier: tier }
}
