/** The exact responses that a client may get when a vendor fails: status, headers and body. */
import { expect } from 'vitest'
import type { FaultResult } from './run-fault.ts'

const id = expect.stringMatching(/^req_[0-9a-f]{32}$/) as string

export interface Refusal {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly message: string
  readonly param?: string | null
  /** Milliseconds. */
  readonly retryAfter?: number
  /** The vendor has reported usage, so that each retry of the client would be charged. */
  readonly billed?: true
}

export const unavailable: Refusal = {
  status: 503,
  type: 'server_error',
  code: 'service_unavailable',
  message: 'The service is temporarily unavailable. Try again later.',
  retryAfter: 1_000,
}

export const badRequest: Refusal = {
  status: 400,
  type: 'invalid_request_error',
  code: 'invalid_request_error',
  message: 'The model rejected the request as invalid.',
}

export function tooManyFor(retryAfter: number, when: string = `in ${Math.ceil(retryAfter / 1000)}s`): Refusal {
  return {
    status: 429,
    type: 'rate_limit_exceeded',
    code: 'rate_limit_exceeded',
    message: `The vendor of this model limits its requests at the moment. Try again ${when}.`,
    retryAfter,
  }
}

export const tooMany: Refusal = tooManyFor(1_000)

/**
 * Expects exactly this error response. `worked`: the vendor had started to work, so the receipt may have usage; otherwise
 * it must have none.
 */
export function expectRefused(met: FaultResult, refusal: Refusal, worked = false): void {
  const { status, type, code, message, param = null, retryAfter } = refusal
  const body = { error: { message, type, param, code } }
  expect({ status: met.status, body: JSON.parse(met.text) as unknown, headers: met.headers }).toEqual({
    status,
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(met.text)),
      'x-request-id': id,
      ...(refusal.billed === true && { 'x-should-retry': 'false' }),
      ...(retryAfter !== undefined && {
        'retry-after': String(Math.ceil(retryAfter / 1000)),
        'retry-after-ms': String(retryAfter),
      }),
    },
  })
  expect(met.receipt).toMatchObject({ outcome: 'failed', code, ...(!worked && { usage: { total_tokens: 0 } }) })
  expect(met.receipt).not.toHaveProperty('firstByteMs')
  expect(met.failures).toHaveLength(status >= 500 ? 1 : 0)
}

/** Expects a stream that begins with `text` and ends with an error event, without `[DONE]`. */
export function expectBrokenOff(met: FaultResult, text: string, refusal: Refusal = unavailable): void {
  expectStream(met)
  const frames = framesIn(met.text)
  expect(textIn(frames)).toBe(text)
  const { message, type, code } = refusal
  expect(frames.at(-1)).toEqual({ error: { message, type, param: null, code } })
  expect(met.text).not.toContain('[DONE]')
  expect(met.text).not.toContain('"finish_reason":"')
  expect(met.receipt).toMatchObject({ outcome: 'failed', code })
  expect(met.receipt.usage.completion_tokens).toBeGreaterThan(0)
  expect(met.failures).toHaveLength(refusal.status >= 500 ? 1 : 0)
}

/** Expects a complete response with this text. */
export function expectComplete(met: FaultResult, text: string): void {
  if (met.receipt.stream) {
    expectStream(met)
    expect(met.text).toMatch(/"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/s)
    expect(textIn(framesIn(met.text))).toBe(text)
  } else {
    expect(met.status).toBe(200)
    expect(JSON.parse(met.text)).toMatchObject({ choices: [{ message: { content: text }, finish_reason: 'stop' }] })
  }
  expect(met.receipt).toMatchObject({ outcome: 'completed' })
  expect(met.failures).toEqual([])
}

function expectStream({ status, headers }: FaultResult): void {
  expect({ status, headers }).toEqual({
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': id,
    },
  })
}

interface Frame {
  readonly choices?: { readonly delta: { readonly content?: string } }[]
}

function framesIn(text: string): Frame[] {
  const lines = text.split('\n\n').filter((frame) => frame.startsWith('data: {'))
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Frame)
}

function textIn(frames: Frame[]): string {
  return frames.map(({ choices = [] }) => choices[0]?.delta.content ?? '').join('')
}
