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
export function fieldWithDigits(call: Pick<Call<unknown>, 'field' | 'json'>, name: string): unknown {
  const text = Buffer.from(call.json({})).toString('utf8')
  return hasLongNumber(text) ? (parseJson(text) as Fields)[name] : call.field(name)
}
