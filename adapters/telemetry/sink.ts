import type { Labels } from './labels.ts'
import type { Gauge, Recorded } from './names.ts'

/** The current value of a gauge. */
export interface Reading {
  readonly gauge: Gauge
  readonly value: number
  readonly labels: Labels
}

/** Where values of metrics go. */
export interface Sink {
  /** Adds a value to a histogram, or to a counter. */
  record(metric: Recorded, value: number, labels: Labels): void
}
