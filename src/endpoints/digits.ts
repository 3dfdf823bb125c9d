/** Large integers keep their digits where a body is changed, and so is printed again. */
import { hasLongNumber, parseJson } from '../conversation/json.ts'
import { Verbatim, type Call } from '../providers/contract.ts'
import type { Fields } from '../wire/json.ts'

/** A whole answer of a vendor. */
export function answerWithDigits<Body extends object>(answer: Body | Verbatim<Body>): Body {
  if (!(answer instanceof Verbatim)) return answer
  const text = Buffer.from(answer.bytes).toString('utf8')
  return hasLongNumber(text) ? (parseJson(text) as Body) : answer.value
}

/** A field of a request. */
export function fieldWithDigits(call: Asking, name: string): unknown {
  const request = requestWithDigits(call)
  return request === undefined ? call.field(name) : request[name]
}

type Asking = Pick<Call<unknown>, 'field' | 'json'>

/** A request; undefined if parsing changes none of its numbers. */
export function requestWithDigits(call: Pick<Asking, 'json'>): Fields | undefined {
  const text = Buffer.from(call.json({})).toString('utf8')
  return hasLongNumber(text) ? (parseJson(text) as Fields) : undefined
}

/** Changes to a request: values that are fields of it, or some items of one, as the client wrote them. */
export function changesWithDigits(order: Asking, changes: Fields): Fields {
  const request = requestWithDigits(order)
  if (request === undefined) return changes
  const written = Object.entries(changes).map(([name, value]) => [
    name,
    asWritten(value, order.field(name), request[name]),
  ])
  return Object.fromEntries(written) as Fields
}

function asWritten(value: unknown, given: unknown, exact: unknown): unknown {
  if (value === given) return exact
  if (!Array.isArray(value) || !Array.isArray(given) || !Array.isArray(exact)) return value
  const places = value.map((each) => given.indexOf(each))
  return places.includes(-1) ? value : places.map((at) => exact[at] as unknown)
}
