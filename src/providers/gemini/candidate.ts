/** One candidate of an answer while its parts arrive → pieces of one choice. */
import { retrySame } from '../failure.ts'
import { isRecord } from '../reading/parts.ts'
import type { ChunkChoice, Delta, FinishReason } from '../../wire/chat.ts'
import { extraContent } from './carried.ts'
import type { ContentPart } from './carried.ts'
import type { FunctionNames } from './names.ts'
import { PartialArguments } from './partial-args.ts'

type Fields = Readonly<Record<string, unknown>>

export interface CandidateOptions {
  /** The function whose arguments are the answer itself. */
  readonly answerTool?: string | undefined
  /** Only the first call is handed on. */
  readonly single?: boolean
  /** The client's names for the functions. */
  readonly names?: FunctionNames
}

/** Reasons for an end that stand for a broken answer. */
const broken = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
])

const filtered = /^(?:SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|IMAGE_.*)$/

export class Candidate {
  readonly #index: number
  readonly #options: CandidateOptions
  #reason: string | undefined
  #calls = 0
  /** A call whose arguments come in pieces: its number, or `answer`. */
  #open: { readonly call: number | 'answer' | 'dropped'; readonly args: PartialArguments } | undefined
  #signature: string | undefined
  readonly #own: ContentPart[] = []
  readonly #images: object[] = []

  constructor(index: number, options: CandidateOptions) {
    this.#index = index
    this.#options = options
  }

  get ended(): boolean {
    return this.#reason !== undefined
  }

  accept(candidate: Fields, out: ChunkChoice[]): void {
    const { content, finishReason: reason, logprobsResult: logprobs } = candidate
    if (typeof reason === 'string' && reason !== '') {
      // Before anything of it is handed on: what comes with such an end is not to be trusted.
      if (broken.has(reason)) throw retrySame(new Error(`the vendor ended the answer with ${reason}`))
      this.#reason = reason
    }
    const parts = isRecord(content) ? content['parts'] : undefined
    for (const part of Array.isArray(parts) ? parts : []) if (isRecord(part)) this.#part(part, out)
    const tokens = tokensOf(logprobs)
    if (tokens.length > 0) out.push({ index: this.#index, logprobs: { content: tokens, refusal: [] } })
  }

  /** Once, when nothing more can come. */
  finish(out: ChunkChoice[]): void {
    this.#closeCall(out)
    const extra = extraContent(this.#signature, this.#own)
    const rest = { ...(this.#images.length > 0 && { images: this.#images }), ...extra }
    // In one delta: readers that replace and readers that append come to the same.
    if (Object.keys(rest).length > 0) this.#push(rest, out)
    out.push({ index: this.#index, delta: {}, finish_reason: this.#finishReason() })
  }

  /** A prompt that was refused has no candidate. */
  refuse(out: ChunkChoice[]): void {
    this.#reason = 'PROHIBITED_CONTENT'
    this.finish(out)
  }

  #finishReason(): FinishReason {
    if (this.#reason === 'MAX_TOKENS' || this.#reason === 'CONTINUATION') return 'length'
    if (filtered.test(this.#reason ?? '')) return 'content_filter'
    return this.#calls > 0 ? 'tool_calls' : 'stop'
  }

  #part(part: Fields, out: ChunkChoice[]): void {
    const { text, thought, thoughtSignature: raw, functionCall, inlineData } = part
    const signature = typeof raw === 'string' ? raw : undefined
    if (isRecord(functionCall)) return this.#call(functionCall, signature, out)
    if (typeof text === 'string') {
      if (text !== '') this.#push(thought === true ? { reasoning_content: text } : { content: text }, out)
    } else if (isRecord(inlineData)) {
      if (thought !== true) this.#images.push(imageOf(inlineData))
    } else {
      // The vendor's own work (code, searches, their results): neither text nor a call, but to be shown to it again.
      this.#own.push(part)
      return
    }
    if (signature !== undefined) this.#signature = signature
  }

  #call(call: Fields, signature: string | undefined, out: ChunkChoice[]): void {
    const { name, id, args, partialArgs, willContinue } = call
    if (typeof name === 'string' && name !== '') {
      this.#closeCall(out)
      const known = isRecord(args) && Object.keys(args).length > 0 ? JSON.stringify(args) : ''
      const opened = this.#openCall(name, id, known, signature, out)
      if (willContinue === true || partialArgs !== undefined)
        this.#open = { call: opened, args: new PartialArguments() }
    }
    this.#open?.args.add(partialArgs)
    if (willContinue !== true) this.#closeCall(out)
  }

  #openCall(called: string, id: unknown, text: string, signature: string | undefined, out: ChunkChoice[]) {
    const name = this.#options.names?.back(called) ?? called
    if (name === this.#options.answerTool) {
      if (text !== '') this.#push({ content: text }, out)
      return 'answer'
    }
    if (this.#options.single === true && this.#calls > 0) return 'dropped'
    const index = this.#calls++
    const told = {
      index,
      ...(typeof id === 'string' && { id }),
      type: 'function',
      function: { name, arguments: text },
      ...extraContent(signature),
    }
    this.#push({ tool_calls: [told] }, out)
    return index
  }

  #closeCall(out: ChunkChoice[]): void {
    const open = this.#open
    this.#open = undefined
    if (open === undefined || open.call === 'dropped') return
    const text = open.args.text()
    if (open.call === 'answer') this.#push({ content: text }, out)
    else this.#push({ tool_calls: [{ index: open.call, function: { arguments: text } }] }, out)
  }

  #push(delta: Delta, out: ChunkChoice[]): void {
    out.push({ index: this.#index, delta })
  }
}

/** A picture in the answer of a chat, in the form that clients of other gateways know. */
function imageOf({ mimeType, data }: Fields): object {
  const type = typeof mimeType === 'string' ? mimeType : 'image/png'
  return { type: 'image_url', image_url: { url: `data:${type};base64,${typeof data === 'string' ? data : ''}` } }
}

function tokensOf(raw: unknown): object[] {
  const { chosenCandidates: chosen, topCandidates: top } = isRecord(raw) ? raw : {}
  if (!Array.isArray(chosen)) return []
  return chosen.filter(isRecord).map((token, index) => {
    const { candidates } = Object(Array.isArray(top) ? top[index] : undefined) as { candidates?: unknown }
    return {
      ...tokenOf(token),
      top_logprobs: Array.isArray(candidates) ? candidates.filter(isRecord).map(tokenOf) : [],
    }
  })
}

function tokenOf({ token, logProbability }: Fields) {
  const text = typeof token === 'string' ? token : ''
  return {
    token: text,
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: [...Buffer.from(text)],
  }
}
