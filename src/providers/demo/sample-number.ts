/** Creates a number within the bounds of its schema: one from the question if it conforms, otherwise the nearest to 12. */
import type { Hints } from './hints.ts'
import type { SchemaObject } from './schema.ts'

const usual = 12

export function sampleNumber(schema: SchemaObject, integer: boolean, hints: Hints, name: string, nth: number): number {
  const { least, most, step } = boundsOf(schema, integer)
  const named = Number(hints.named(name) ?? NaN)
  const hint = Number.isFinite(named) ? named : nth === 0 ? hints.nextNumber() : undefined
  const fits = hint !== undefined && hint >= least && hint <= most && (step === 0 || Number.isInteger(hint / step))
  if (fits) return hint
  // The items of a list count up from the first value; above the bound they continue below it.
  const stride = step || 1
  const nearest = Math.min(Math.max(usual, least), most)
  const onStep = step === 0 ? nearest : Math.ceil(nearest / step) * step
  const first = onStep <= most ? onStep : onStep - stride
  const above = Math.floor((most - first) / stride)
  const value = nth <= above ? first + nth * stride : first - (nth - above) * stride
  return Math.max(value, Math.min(least, first))
}

/** `step`: `multipleOf`, or 0 for none. */
function boundsOf(schema: SchemaObject, integer: boolean): { least: number; most: number; step: number } {
  const number = (keyword: string, none: number) => (typeof schema[keyword] === 'number' ? schema[keyword] : none)
  const given = Math.abs(number('multipleOf', 0))
  const step = integer && (given === 0 || !Number.isInteger(given)) ? 1 : given
  const [least, most] = [number('minimum', -Infinity), number('maximum', Infinity)]
  // Up to draft 4, the exclusive bounds are booleans that modify the inclusive ones.
  const above = schema['exclusiveMinimum'] === true ? least : number('exclusiveMinimum', -Infinity)
  const below = schema['exclusiveMaximum'] === true ? most : number('exclusiveMaximum', Infinity)
  if (step > 0) {
    const first = (Math.floor(above / step) + 1) * step
    const last = (Math.ceil(below / step) - 1) * step
    return { least: Math.max(least, first), most: Math.min(most, last), step }
  }
  const inside = Math.min(1, (below - above) / 4)
  return { least: Math.max(least, above + inside), most: Math.min(most, below - inside), step }
}
