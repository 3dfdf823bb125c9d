/** Embeddings. A list of vectors is large, so only the JSON around it is parsed; the vectors are passed on as bytes. */
import { readObject, readWhole, withoutMark } from '../answer.ts'
import { joinedBytes } from '../whole-body.ts'
import { requireBoundedVectors } from '../answer-bounds.ts'
import { EmbeddingText, type Call, type EmbeddingAnswer } from '../contract.ts'
import { withoutOwnCosts } from '../own-costs.ts'
import { readUsage } from '../../wire/counts.ts'
import type { EmbeddingList, EmbeddingRequest } from '../../wire/embeddings.ts'
import type { OpenAIOptions } from './options.ts'
import type { Vendor } from './vendor.ts'

export async function embed(
  vendor: Vendor,
  call: Call<EmbeddingRequest>,
  { embeddingFormat }: OpenAIOptions,
): Promise<EmbeddingAnswer> {
  const encoding = call.field('encoding_format')
  const changes = embeddingFormat === false && encoding !== undefined ? { encoding_format: undefined } : {}
  const { transfer, rename, failure, costs } = await vendor.post('/embeddings', call, changes, 'later')
  const body = await readWhole(transfer, vendor.client.answerBytes, 'later')
  const untouched = untouchedIn(body.pieces, encoding === 'base64' ? '"' : '[', rename, costs)
  if (untouched !== undefined) return untouched
  const bytes = withoutMark(body.bytes)
  requireBoundedVectors(bytes)
  const list = withoutOwnCosts(readObject(bytes) as EmbeddingList, costs)
  if (list['error']) throw failure(list['error'])
  return rename === undefined ? list : { ...list, model: rename }
}

/** Maximum number of bytes before the list of vectors, and after it. */
const shellBytes = 4096

const firstVector = /^\[\s*\{[^[\]{}]{0,200}?"embedding"\s*:\s*(["[])/

/**
 * The response without parsing or copying its vectors, if they have the requested encoding; `form` is their first
 * character. Undefined if anything is unusual: then the caller parses all of it.
 */
function untouchedIn(
  body: readonly Buffer[],
  form: string,
  rename: string | undefined,
  costs: Call<unknown>['costs'],
): EmbeddingText | undefined {
  const [first = none, ...others] = withEnds(body, 2 * shellBytes)
  const start = withoutMark(first)
  const last = others.pop() ?? start
  const from = start.subarray(0, shellBytes).indexOf('[')
  const to = last.lastIndexOf(']') + 1
  if (from < 0 || to <= (last === start ? from : 0) || last.length - to > shellBytes) return undefined
  if (firstVector.exec(start.toString('latin1', from, from + 300))?.[1] !== form) return undefined
  const around = shellOf(`${start.toString('utf8', 0, from)}[]${last.toString('utf8', to)}`)
  const shell = around && withoutOwnCosts(around, costs)
  const usage = readUsage(shell?.['usage'], 0)
  if (shell === undefined || usage === undefined || !isEmptyList(shell['data'])) return undefined
  const { prompt_tokens: named } = Object(shell['usage']) as { prompt_tokens?: unknown }
  const counts =
    named === undefined ? { usage: { prompt_tokens: usage.prompt_tokens, total_tokens: usage.total_tokens } } : {}
  const pieces = last === start ? [start] : [start, ...others, last]
  if (rename === undefined && named !== undefined && shell === around) return new EmbeddingText(pieces, usage)
  const list = JSON.stringify({ ...shell, ...counts, ...(rename !== undefined && { model: rename }) })
  const position = list.indexOf('"data":[]') + '"data":['.length
  pieces[pieces.length - 1] = last.subarray(0, to - 1)
  pieces[0] = (pieces[0] as Buffer).subarray(from + 1)
  return new EmbeddingText([Buffer.from(list.slice(0, position)), ...pieces, Buffer.from(list.slice(position))], usage)
}

const none = Buffer.alloc(0)

/** The same bytes, in pieces of which the first and the last have at least `least` bytes, or in one piece. */
function withEnds(pieces: readonly Buffer[], least: number): Buffer[] {
  let [head, tail] = [0, pieces.length]
  for (let bytes = 0; head < tail && bytes < least; head++) bytes += (pieces[head] as Buffer).length
  for (let bytes = 0; tail > head && bytes < least; tail--) bytes += (pieces[tail - 1] as Buffer).length
  const behind = joinedBytes(pieces.slice(tail))
  if (behind.length < least) return [joinedBytes(pieces)]
  return [joinedBytes(pieces.slice(0, head)), ...pieces.slice(head, tail), behind]
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function shellOf(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
