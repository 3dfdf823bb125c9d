/** Why something failed, in one line for a log: the messages of an error and its causes, without secrets and bodies. */

const deepest = 6
const longestMessage = 200
const longest = 600

/** Never throws. */
export function causeOf(error: unknown): string {
  try {
    return messagesOf(error, 0).join(': ').slice(0, longest)
  } catch {
    // An object whose getters throw.
    return 'an error that cannot be read'
  }
}

function messagesOf(error: unknown, depth: number): string[] {
  if (depth >= deepest || error === undefined || error === null) return []
  if (typeof error === 'string') return [lineOf(error)]
  if (typeof error !== 'object') return [`a ${typeof error}`]
  const { name, message, code, cause, errors } = error as Record<string, unknown>
  const own =
    // Its message quotes the text that was parsed.
    name === 'SyntaxError'
      ? 'SyntaxError'
      : lineOf(typeof message === 'string' && message !== '' ? message : nameText(name))
  const isNamed = typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) && !own.includes(code)
  const within = Array.isArray(errors) ? errors.slice(0, 1) : [cause]
  const below = within.flatMap((each) => messagesOf(each, depth + 1))
  return [isNamed ? `${own} (${code})` : own, ...below].filter(
    (each, index, all) => each !== '' && each !== all[index - 1],
  )
}

/** What looks like a secret, and what replaces it. */
const secrets: readonly (readonly [RegExp, string])[] = [
  // Up to the last `@`: passwords in addresses are not always encoded.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s"'<>]*@/gi, '$1…@'],
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, '$1 …'],
  [
    /\b([\w-]*(?:key|token|secret|password|passwd|pwd|authorization|signature)["']?\s*[:=]\s*)(?:"[^"]*|'[^']*|[^\s"',;&]+)["']?/gi,
    '$1…',
  ],
  [/\b(?:sk|pk|rk|gsk|xai|key|ghp|pat)[-_][A-Za-z0-9_-]{8,}|\b(?:AIza|AKIA|ya29\.)[A-Za-z0-9_-]{12,}/g, '…'],
  // Long runs with letters and digits: hashes, tokens, base64.
  [/(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])[\w+=-]{40,}/gi, '…'],
]

function nameText(name: unknown): string {
  return typeof name === 'string' ? name : 'an object'
}

function lineOf(message: string): string {
  // The first line only: further ones may quote a query or a body.
  const line = (/^[^\r\n]*/.exec(message.slice(0, 2_000)) ?? [''])[0]
  return secrets.reduce((text, [secret, shown]) => text.replace(secret, shown), line).slice(0, longestMessage)
}
