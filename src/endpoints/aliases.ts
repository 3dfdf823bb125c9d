/** Paths of Azure OpenAI and the `/v1` routes that serve them, if the host enables them. */
import { decodeSegment, pathOf } from '../http/target.ts'

/** A request target below `/v1`. */
export interface Address {
  readonly target: string
  /** The model, if the path names it. */
  readonly model?: string
}

/** The prefixes of endpoint names. A `*` is the model. */
const prefixes = ['/openai/v1/', '/openai/deployments/*/', '/openai/'].map((pattern) => ({
  before: pattern.split('*')[0] ?? '',
  named: pattern.includes('*'),
}))

/** The `/v1` target for an Azure path; undefined for any other path. */
export function addressOf(target: string): Address | undefined {
  const path = pathOf(target)
  const prefix = prefixes.find(({ before }) => path.startsWith(before))
  if (prefix === undefined) return undefined
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : ''
  const rest = path.slice(prefix.before.length)
  if (!prefix.named) return { target: `/v1/${rest}${query}` }
  const [segment = '', ...behind] = rest.split('/')
  const model = decodeSegment(segment)
  // Not a valid deployment path: the routes reject it as unknown.
  if (model === undefined || model === '' || behind.length === 0) return { target }
  return { target: `/v1/${behind.join('/')}${query}`, model }
}
