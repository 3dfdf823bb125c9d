/** A number within the bounds of its schema: the question's where that fits, else a dozen, or what is nearest to it. */
import type { Hints } from './hints.ts'
import type { SchemaObject } from './sample.ts'

const usual = 12

export function sampleNumber(schema: SchemaObject, whole: boolean, hints: Hints, name: string, nth: number): number {
  const bounds = boundsOf(schema, whole)
  const named = Number(hints.named(name) ?? NaN)
  const hint = Number.isFinite(named) ? named : nth === 0 ? hints.nextNumber() : undefined
  if (hint !== undefined && fits(hint, bounds)) return hint
  return counted(bounds, nth)
}

/** From the usual number upwards, and where the bound is reached, from there downwards. */
function counted({ least, most, step }: Bounds, nth: number): number {
  const stride = step || 1
  const nearest = Math.min(Math.max(usual, least), most)
  const onStep = step === 0 ? nearest : Math.ceil(nearest / step) * step
  const first = onStep <= most ? onStep : onStep - stride
  const above = Math.floor((most - first) / stride)
  const value = nth <= above ? first + nth * stride : first - (nth - above) * stride
  return Math.max(value, Math.min(least, first))
}

interface Bounds {
  readonly least: number
  readonly most: number
  /** What every value is a multiple of; 0 for nothing. */
  readonly step: number
}

function boundsOf(schema: SchemaObject, whole: boolean): Bounds {
  const given = numberIn(schema, 'multipleOf') ?? 0
  const step = whole && !Number.isInteger(given) ? 1 : Math.abs(given) || (whole ? 1 : 0)
  const least = numberIn(schema, 'minimum') ?? -Infinity
  const most = numberIn(schema, 'maximum') ?? Infinity
  // In drafts up to 4 the exclusive bounds are flags on the others.
  const above = schema['exclusiveMinimum'] === true ? least : (numberIn(schema, 'exclusiveMinimum') ?? -Infinity)
  const below = schema['exclusiveMaximum'] === true ? most : (numberIn(schema, 'exclusiveMaximum') ?? Infinity)
  if (step > 0) {
    const first = (Math.floor(above / step) + 1) * step
    const last = (Math.ceil(below / step) - 1) * step
    return { least: Math.max(least, first), most: Math.min(most, last), step }
  }
  const inside = Math.min(1, (below - above) / 4)
  return { least: Math.max(least, above + inside), most: Math.min(most, below - inside), step }
}

function numberIn(schema: SchemaObject, keyword: string): number | undefined {
  const value = schema[keyword]
  return typeof value === 'number' ? value : undefined
}

function fits(value: number, { least, most, step }: Bounds): boolean {
  return value >= least && value <= most && (step === 0 || Number.isInteger(value / step))
}
