/** The key that keeps the prompts of a conversation in one cache of the vendor. */
import type { Call } from '../contract.ts'
import type { OpenAIOptions } from './options.ts'

type Options = Pick<OpenAIOptions, 'promptCacheKey'>

/** The field to add, unless the client sent it or the vendor takes none. */
export function keyField(
  { field, promptCacheKey: key }: Call<unknown>,
  { promptCacheKey: place }: Options,
): { readonly prompt_cache_key?: string } {
  const isNew = place !== undefined && key !== undefined && (field('prompt_cache_key') ?? undefined) === undefined
  return isNew ? { prompt_cache_key: key } : {}
}

/** The header for the chats of vendors that take it there. */
export function keyHeader(
  { field, promptCacheKey }: Call<unknown>,
  { promptCacheKey: place }: Options,
): Readonly<Record<string, string>> | undefined {
  if (place !== 'x-grok-conv-id') return undefined
  const own = field('prompt_cache_key')
  const key = typeof own === 'string' && /^[!-~]{1,255}$/.test(own) ? own : promptCacheKey
  return key === undefined ? undefined : { [place]: key }
}
