/** Translates one candidate of a response, part by part, into the chunks of one choice. */
import { useless } from '../failure.ts'
import type { ChunkChoice, Delta, FinishReason } from '../../wire/chat.ts'
import { extraContent } from './extra-content.ts'
import type { ContentPart } from './extra-content.ts'
import type { FunctionNames } from './names.ts'
import { PartialArguments } from './partial-args.ts'
import { type Fields, isRecord } from '../../wire/json.ts'

export interface CandidateOptions {
  /** The function whose arguments are the structured response. Default: none. */
  readonly answerTool?: string | undefined
  /** True to pass on only the first tool call. Default false. */
  readonly single?: boolean
  /** Maps function names back to the client's. Default: unchanged. */
  readonly names?: FunctionNames
}

/** Finish reasons of a broken response, which the tools and the turns of the client cause. */
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
  /** The tool call whose arguments are still arriving: its index, or `answer` for the structured response. */
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
      // Checked before the parts, which cannot be trusted with such a reason.
      if (broken.has(reason)) throw useless(`the vendor ended the response with ${reason}`)
      this.#reason = reason
    }
    const parts = isRecord(content) ? content['parts'] : undefined
    for (const part of Array.isArray(parts) ? parts : []) if (isRecord(part)) this.#part(part, out)
    const tokens = tokensOf(logprobs)
    if (tokens.length > 0) out.push({ index: this.#index, logprobs: { content: tokens, refusal: [] } })
  }

  /** Emits the last chunks. Called once, after the last part. */
  finish(out: ChunkChoice[]): void {
    this.#closeCall(out)
    const extra = extraContent(this.#signature, this.#own)
    const rest = { ...(this.#images.length > 0 && { images: this.#images }), ...extra }
    // In one delta, because some clients append the values of several deltas and others replace them.
    if (Object.keys(rest).length > 0) this.#push(rest, out)
    out.push({ index: this.#index, delta: {}, finish_reason: this.#finishReason() })
  }

  /** The result for a rejected prompt, which has no candidate. */
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
      // Results of the vendor's built-in tools (code, searches): not for the client, but the model needs them back.
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
    const name = this.#options.names?.toClient(called) ?? called
    if (name === this.#options.answerTool) {
      if (text !== '') this.#push({ content: text }, out)
      return 'answer'
    }
    if (this.#options.single === true && this.#calls > 0) return 'dropped'
    const index = this.#calls++
    const toolCall = {
      index,
      ...(typeof id === 'string' && { id }),
      type: 'function',
      function: { name, arguments: text },
      ...extraContent(signature),
    }
    this.#push({ tool_calls: [toolCall] }, out)
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

/** An image in a chat response, in the format of other gateways. */
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
