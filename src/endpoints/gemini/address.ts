/** Paths of Google's API, which name the model and the method: `/v1beta/models/{model}:generateContent`. */
import { decodeSegment, googleMethodIn, pathOf } from '../../http/target.ts'
import type { Address } from '../aliases.ts'

/** The target under which the routes know a method, and the model; undefined for any other path. */
export function contentAddressOf(target: string): Address | undefined {
  if (!target.includes(':')) return undefined
  const found = googleMethodIn(pathOf(target))
  const model = found && decodeSegment(found.model)
  if (found === undefined || model === undefined) return undefined
  const query = target.includes('?') ? target.slice(target.indexOf('?')) : ''
  return { target: `/v1beta/models:${found.method}${query}`, model }
}
