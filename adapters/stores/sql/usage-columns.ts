import type { UsageDimension } from '../index.ts'

/** The sums of a usage summary and their columns in the tables of both SQL stores. */
export const sums = {
  promptTokens: 'prompt_tokens',
  cachedTokens: 'cached_tokens',
  completionTokens: 'completion_tokens',
  reasoningTokens: 'reasoning_tokens',
  images: 'images',
  seconds: 'seconds',
} as const

/** The counts of a usage summary: all but its cost. */
export const counts = ['requests', 'incomplete', ...Object.keys(sums)] as (keyof typeof sums)[]

/** The dimensions of labels with an account. */
export const ofOwner: ReadonlySet<UsageDimension> = new Set(['account', 'key', 'user', 'tag', 'session'])

/** The columns of dimensions, apart from those of time. */
export const dimensions: Readonly<Record<Exclude<UsageDimension, 'day' | 'period'>, string>> = {
  account: 'account',
  group: '"group"',
  key: 'key',
  model: 'model',
  endpoint: 'endpoint',
  user: `coalesce("user", '')`,
  tag: 'tag',
  session: `coalesce(session, '')`,
}
