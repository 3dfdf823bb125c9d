/** Text completions for providers that answer conversations. */
import type { Tally } from '../../money/tally.ts'
import { sumOfUsages } from '../../wire/counts.ts'
import { GatewayError, invalid, refusedField, refusedValue } from '../../errors.ts'
import { text } from '../../formats/chat/text.ts'
import type { Call, CompletionAnswer, Provider } from '../../providers/contract.ts'
import { billed } from '../../providers/failure.ts'
import type { CompletionRequest, TextChoice, TextChunk, TextCompletion } from '../../wire/completions.ts'
import type { Usage } from '../../wire/usage.ts'
import { checkMadeChat } from '../chat/request.ts'
import { covered } from '../chat/translated.ts'
import type { AnswerContext } from '../chunk-answer.ts'
import { streamOf, wholeOf } from '../open.ts'
import { replace } from '../order.ts'
import { mapConcurrently, merge } from '../concurrency.ts'
import { translated } from '../translated/translated.ts'
import type { ClientWire } from '../translated/plan.ts'

const client: ClientWire = {
  format: text,
  idPrefix: 'cmpl-',
  asksOwnName: true,
  covered: new Set([...covered, 'prompt', 'echo', 'suffix', 'best_of']),
}

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
  const { prompt: _, suffix: __, echo: ___, best_of: ____, logprobs: _____, ...rest } = request
  checkMadeChat({ ...rest, messages: [] })
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

class TextChat {
  readonly tally: Tally
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
    this.tally = { usage: undefined, textBytes: 0, omit: (name) => context.meter.omit?.(name) }
    this.#context = { ...context, meter: this.tally }
    this.#first = index * (call.request.n ?? 1)
    this.#echo = call.request.echo === true ? prompt : ''
  }

  async whole(signal: AbortSignal): Promise<TextChoice[]> {
    const answer = await this.#ask(signal)
    const { choices } = wholeOf(answer).body as unknown as TextCompletion
    return choices.map((choice) => ({
      ...choice,
      text: this.#echo + choice.text,
      index: this.#first + choice.index,
    }))
  }

  async *chunks(signal: AbortSignal): AsyncGenerator<TextChunk, void, void> {
    const answer = await this.#ask(signal)
    const started = new Set<number>()
    for await (const { choices = [] } of streamOf(answer).pieces) {
      for (const choice of choices) {
        const { index = 0 } = choice
        const said = (started.has(index) ? '' : this.#echo) + (choice.text ?? '')
        started.add(index)
        yield { choices: [{ ...choice, text: said, index: this.#first + index }] }
      }
    }
  }

  #ask(signal: AbortSignal) {
    const request = { ...this.#call.request, prompt: this.#prompt }
    const call = { ...replace(this.#call, request, signal), sent: () => this.#call.sent?.(this.#share) }
    return translated<TextChunk>(client, this.#provider, call, this.#context)
  }
}

function promptsOf({ prompt }: CompletionRequest): readonly string[] {
  const prompts = typeof prompt === 'string' ? [prompt] : (prompt ?? [])
  if (prompts.length === 0) throw invalid('Missing required parameter: "prompt".', 'prompt')
  if (prompts.every((each) => typeof each === 'string')) return prompts
  throw refusedValue('This model does not support a prompt of tokens. Send the prompt as text.', 'prompt')
}

/** Throws 400 for fields that a chat cannot provide, such as the log probabilities of a prompt. */
function checkSupported(request: CompletionRequest): void {
  const { suffix, logprobs, best_of: bestOf, n, max_tokens: limit } = request
  const used = { suffix: Boolean(suffix), logprobs: typeof logprobs === 'number', best_of: (bestOf ?? 0) > (n ?? 1) }
  for (const [param, isUsed] of Object.entries(used)) {
    if (!isUsed) continue
    throw refusedField(`This model does not support "${param}".`, param)
  }
  if (limit === 0) {
    throw refusedValue('"max_tokens" must be at least 1 for this model.', 'max_tokens')
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
