/** Reference implementations for the tests of JSON bodies. */
import { defaultSizes, type Sizes } from '../../src/http/sizes.ts'

export const sizes: Sizes = { ...defaultSizes, jsonBytes: 1024 * 1024 }

/** The reference parser: strict UTF-8, then `JSON.parse`. Undefined for anything but an object. */
export function standard(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Nesting levels and members of a value, as the limits count them. */
export function extent(value: unknown): { depth: number; entries: number; nodes: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, entries: 0, nodes: 0 }
  const parts = Object.values(value).map((part) => extent(part))
  return {
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
    entries: Math.max(parts.length, ...parts.map(({ entries }) => entries)),
    nodes: parts.length + parts.reduce((sum, { nodes }) => sum + nodes, 0),
  }
}

/** The status of the error that a function throws; undefined if it throws none. */
export function refusal(attempt: () => unknown): unknown {
  try {
    attempt()
    return undefined
  } catch (error) {
    return (error as { status?: unknown }).status ?? error
  }
}
