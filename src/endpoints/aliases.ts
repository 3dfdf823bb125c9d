/** Paths of Azure OpenAI, and what they are here: for its clients, where the host has switched them on. */
import { decodeSegment, pathOf } from '../http/target.ts'

/** A request target in the one form that the routes know. */
export interface Address {
  readonly target: string
  /** The model, where the path names it. */
  readonly model?: string
}

/** What stands in front of the name of an endpoint. A `*` is the model. */
const prefixes = ['/openai/v1/', '/openai/deployments/*/', '/openai/'].map((pattern) => ({
  before: pattern.split('*')[0] ?? '',
  named: pattern.includes('*'),
}))

/** Undefined for a target that is none of these. */
export function addressOf(target: string): Address | undefined {
  const path = pathOf(target)
  const prefix = prefixes.find(({ before }) => path.startsWith(before))
  if (prefix === undefined) return undefined
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : ''
  const rest = path.slice(prefix.before.length)
  if (!prefix.named) return { target: `/v1/${rest}${query}` }
  const [segment = '', ...behind] = rest.split('/')
  const model = decodeSegment(segment)
  // A path that names no model is no path of ours.
  if (model === undefined || model === '' || behind.length === 0) return { target }
  return { target: `/v1/${behind.join('/')}${query}`, model }
}
