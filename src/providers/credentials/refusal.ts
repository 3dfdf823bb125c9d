/** What a vendor's refusal is about: the key, one model, what is left of its credit, or its requests at the moment. */

/** `request`: only this request, such as its content; the credentials are as good as before. */
export type RefusalReason = 'key' | 'model' | 'quota' | 'rate' | 'request'

/** The statuses with which vendors refuse credentials. Anthropic says with 400 that no credit is left. */
const statuses: ReadonlySet<number> = new Set([400, 401, 402, 403, 429])

/** Codes and types of an account without credit, or with an allowance that is used up for longer than a moment. */
const spent =
  /insufficient_quota|billing|exceeded_current_quota|quota_?exceeded|overdue|arrearage|access_terminated|^1113$/i
const spentText =
  /credit balance|insufficient (?:balance|credit)|out of credit|exceeded your current quota|per day|daily limit/i
/** Of Google's limits, those that last longer than a minute. */
const spentLimit = /PerDay/

export function mayRefuse(status: number): boolean {
  return statuses.has(status)
}

/** Undefined: the vendor did not refuse the credentials. `error`: as the vendor sent it. */
export function refusalReason(status: number, error: unknown): RefusalReason | undefined {
  const { code, type, message, metadata, details } = Object(error) as Record<string, unknown>
  const names = [code, type].filter((name) => typeof name === 'string' || typeof name === 'number').map(String)
  const text = typeof message === 'string' ? message.slice(0, 2_000) : ''
  const isSpent = names.some((name) => spent.test(name)) || spentText.test(text) || spentLimit.test(quotaIds(details))
  if (status === 400) return /credit balance is too low/i.test(text) ? 'quota' : undefined
  if (status === 401) return 'key'
  if (status === 402) return 'quota'
  if (status === 429) return isSpent ? 'quota' : 'rate'
  if (isSpent) return 'quota'
  // OpenRouter answers 403 to content that a moderator has flagged.
  const { flagged_input: flagged, reasons } = Object(metadata) as Record<string, unknown>
  if (flagged !== undefined || reasons !== undefined) return 'request'
  return names.includes('model_not_found') || /\bmodels?\b/i.test(text) ? 'model' : 'key'
}

/** The names of the limits in an error of Google. */
function quotaIds(details: unknown): string {
  if (!Array.isArray(details)) return ''
  return details
    .flatMap((detail) => (Object(detail) as { violations?: unknown }).violations ?? [])
    .map((violation) => String((Object(violation) as { quotaId?: unknown }).quotaId))
    .join(' ')
}
