/**
 * Milliseconds for which a store knows an attempt after its lease: its key is free for others by then, but an attempt that
 * could give no sign of life can still end it, unless another has begun.
 */
export const lapsedMs = 3_600_000
