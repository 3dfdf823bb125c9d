/** What vendors say in headers about the limits of a key. */

/** What is left of a limit. */
export interface ReportedLimit {
  /** What it counts. Vendors with separate limits for input and output report both. */
  readonly of: 'requests' | 'tokens' | 'input' | 'output'
  /** Units that may be used at once when nothing was used. */
  readonly most: number
  /** Units left. */
  readonly left: number
  /** Milliseconds until nothing of it is used any more; undefined if the vendor does not say. */
  readonly fullInMs: number | undefined
}

/** The status of a vendor's response and its headers, by lower-case name. */
export interface ResponseHead {
  /** The HTTP status. */
  readonly status: number
  /** The value of a header; undefined if it is absent. */
  header(name: string): string | undefined
}

type Names = readonly [of: ReportedLimit['of'], most: string, left: string, reset: string]

/** OpenAI, Azure, Groq, xAI and most of those with OpenAI's format. */
const usual: readonly Names[] = (['requests', 'tokens'] as const).map((of) => [
  of,
  `x-ratelimit-limit-${of}`,
  `x-ratelimit-remaining-${of}`,
  `x-ratelimit-reset-${of}`,
])

const anthropic: readonly Names[] = (
  [
    ['requests', 'requests'],
    ['input', 'input-tokens'],
    ['output', 'output-tokens'],
  ] as const
).map(([of, name]) => [
  of,
  `anthropic-ratelimit-${name}-limit`,
  `anthropic-ratelimit-${name}-remaining`,
  `anthropic-ratelimit-${name}-reset`,
])

/** The limits that the headers state completely. */
export function reportedLimits(head: ResponseHead): ReportedLimit[] {
  const limits: ReportedLimit[] = []
  const names = head.header('anthropic-ratelimit-requests-limit') === undefined ? usual : anthropic
  for (const [of, mostName, leftName, resetName] of names) {
    const most = Number(head.header(mostName))
    const left = Number(head.header(leftName) ?? Number.NaN)
    if (!(most > 0 && most < Infinity) || !(left >= 0)) continue
    const ms = resetIn(head, resetName)
    const fullInMs = ms === undefined || ms > longestMs ? undefined : ms
    limits.push({ of, most, left: Math.min(left, most), fullInMs })
  }
  return limits
}

/** No limit is for more than a day: some vendors state the time of a reset as a number. */
const longestMs = 86_400_000

const durations = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** `6m0s`, `120ms`, seconds, or a time, which counts from the vendor's own clock. */
function resetIn(head: ResponseHead, name: string): number | undefined {
  const text = head.header(name)
  if (text === undefined || text.length > 40) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  if (/^(\d+(\.\d+)?(ms|[dhms]))+$/.test(text)) {
    let ms = 0
    for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
      ms += Number(number) * durations[unit as keyof typeof durations]
    }
    return ms
  }
  const ms = Date.parse(text) - Date.parse(head.header('date') ?? new Date().toISOString())
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
