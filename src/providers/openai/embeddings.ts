/** Embeddings. A list of vectors is large, so only the JSON around it is parsed; the vectors are passed on as bytes. */
import { readBounded, readObject } from '../answer.ts'
import { requireBoundedVectors } from '../answer-bounds.ts'
import { EmbeddingText, type Call, type EmbeddingAnswer } from '../contract.ts'
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
  const { transfer, rename, failure } = await vendor.post('/embeddings', call, changes, 'later')
  const bytes = await readBounded(transfer, vendor.client.answerBytes, 'later')
  const untouched = untouchedIn(bytes, encoding === 'base64' ? '"' : '[', rename)
  if (untouched !== undefined) return untouched
  requireBoundedVectors(bytes)
  const list = readObject(bytes) as EmbeddingList
  if (list['error']) throw failure(list['error'])
  return rename === undefined ? list : { ...list, model: rename }
}

/** Maximum number of bytes before the list of vectors, and after it. */
const shellBytes = 4096

const firstVector = /^\[\s*\{[^[\]{}]{0,200}?"embedding"\s*:\s*(["[])/

/**
 * The response without parsing its vectors, if they have the requested encoding; `form` is their first character.
 * Undefined if anything is unusual: then the caller parses all of it.
 */
function untouchedIn(bytes: Buffer, form: string, rename: string | undefined): EmbeddingText | undefined {
  const from = bytes.subarray(0, shellBytes).indexOf('[')
  const to = bytes.lastIndexOf(']') + 1
  if (from < 0 || to <= from || bytes.length - to > shellBytes) return undefined
  if (firstVector.exec(bytes.toString('latin1', from, from + 300))?.[1] !== form) return undefined
  const before = bytes.toString('utf8', 0, from)
  const behind = bytes.toString('utf8', to)
  const shell = shellOf(`${before}[]${behind}`)
  const usage = readUsage(shell?.['usage'])
  if (shell === undefined || usage === undefined || !isEmptyList(shell['data'])) return undefined
  const { prompt_tokens: named } = Object(shell['usage']) as { prompt_tokens?: unknown }
  const counts =
    named === undefined ? { usage: { prompt_tokens: usage.prompt_tokens, total_tokens: usage.total_tokens } } : {}
  if (rename === undefined && named !== undefined) return new EmbeddingText(bytes, usage)
  const list = JSON.stringify({ ...shell, ...counts, ...(rename !== undefined && { model: rename }) })
  const position = list.indexOf('"data":[]') + '"data":['.length
  const vectors = bytes.subarray(from + 1, to - 1)
  const whole = Buffer.concat([Buffer.from(list.slice(0, position)), vectors, Buffer.from(list.slice(position))])
  return new EmbeddingText(whole, usage)
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
