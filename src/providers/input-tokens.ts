import { readJsonObject } from './answer.ts'
import { unreadable } from './failure.ts'
import type { Transfer } from './transfer.ts'

/** The count in a vendor's answer. Throws if there is none. */
export async function readInputTokens(transfer: Transfer, maxBytes: number): Promise<number> {
  const { input_tokens: tokens } = (await readJsonObject(transfer, maxBytes)).value as { input_tokens?: unknown }
  if (Number.isSafeInteger(tokens) && Number(tokens) >= 0) return tokens as number
  throw unreadable("the vendor's response has no count of tokens")
}
