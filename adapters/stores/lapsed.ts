/**
 * Milliseconds for which a store remembers an idempotent attempt after its lease expires. Another attempt can already begin
 * then; until one does, an attempt that could not renew its lease can still finish.
 */
export const lapsedMs = 3_600_000
