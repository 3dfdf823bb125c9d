/** Secrets that must never leak, and functions that search for them. */
import { channel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { expect, onTestFinished } from 'vitest'

/** Each value contains the word "canary". */
export const canary = {
  /** Our key at the vendor. */
  vendorKey: 'sk-vendor-canary1234567890',
  /** Our account at the vendor. */
  organization: 'org-canary',
  project: 'proj-canary',
  /** The key of our client. */
  clientKey: 'sk-client-canary0987654321',
  /** A host in the internal network of the vendor or of the gateway. */
  host: 'canary.internal',
  requestId: 'req_canary_42',
  /** Text of the vendor's error messages. */
  text: 'canary says no',
}

/** Headers that vendors send with every response. */
export const vendorHeaders: Readonly<Record<string, string>> = {
  server: canary.host,
  'x-request-id': canary.requestId,
  'cf-ray': canary.requestId,
  'openai-organization': canary.organization,
  'x-ratelimit-remaining-tokens': 'canary',
  'set-cookie': `session=${canary.vendorKey}; Domain=${canary.host}`,
  'x-debug': `${canary.vendorKey} ${canary.text}`,
}

/** A vendor's error with secrets in every field. */
export function vendorErrorBody(more: object = {}): string {
  const { text, vendorKey, host, requestId } = canary
  const error = { message: `${text} for ${vendorKey} at http://${host}/`, type: 'canary_type', param: 'canary_param' }
  return JSON.stringify({
    error: { ...error, code: 'canary_code', metadata: { raw: text }, ...more },
    request_id: requestId,
    user_id: canary.organization,
  })
}

export function expectNoCanary(place: string, ...things: unknown[]): void {
  for (const thing of things) {
    const shown = typeof thing === 'string' ? thing : inspect(thing, { depth: 20, showHidden: true })
    expect(shown, place).not.toMatch(/canary/i)
    if (typeof thing === 'object') expect(JSON.stringify(thing), place).not.toMatch(/canary/i)
    // `inspect` shows causes, but not the results of getters.
    for (let error = thing; error instanceof Error; error = error.cause) {
      expect([error.message, error.stack, String(error)].join('\n'), place).not.toMatch(/canary/i)
    }
  }
}

/** All messages on the diagnostics channels of this process, from now to the end of the test. */
export function recordChannels(): unknown[] {
  const messages: unknown[] = []
  const listen = (message: unknown) => void messages.push(message)
  for (const name of ['modelhatch:receipt', 'modelhatch:failure']) {
    channel(name).subscribe(listen)
    onTestFinished(() => {
      channel(name).unsubscribe(listen)
    })
  }
  return messages
}
