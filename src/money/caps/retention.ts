/** Milliseconds for which a ledger keeps the use of a cap after it counts no longer. */
export const capUseMs = 3_600_000

/** Milliseconds for which a ledger keeps a notice. */
export const noticeMs: number = 35 * 86_400_000
