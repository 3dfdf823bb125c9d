import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { retrySame } from '../../src/providers/failure.ts'
import { vendorError } from '../../src/providers/vendor-error.ts'
import { mayHaveBegun, notAgain } from '../../src/routing/begun-work.ts'

function afterwards(thrown: unknown): GatewayError {
  try {
    notAgain(thrown)
  } catch (error) {
    return error as GatewayError
  }
}

describe('a failure of work that is charged per attempt', () => {
  it('prevents retries, by the gateway and by the client, once the vendor may have started', () => {
    const failures = [
      retrySame(new Error('cut')),
      vendorError({ status: 500, openModel: false }),
      new Error('a bug in a plug-in'),
      new GatewayError('service_unavailable', { retryAfterMs: 1_000 }),
    ]
    for (const failure of failures) {
      expect(mayHaveBegun(failure)).toBe(true)
      expect(afterwards(failure).shouldRetry).toBe(false)
    }
  })

  it('does not change failures of requests that the vendor never received or rejected', () => {
    const failures = [
      retrySame(new Error('refused'), { begun: false }),
      vendorError({ status: 429, openModel: false }),
      vendorError({ status: 401, openModel: false }),
      vendorError({ status: 400, openModel: false }),
      new GatewayError('client_closed'),
    ]
    for (const failure of failures) {
      expect(mayHaveBegun(failure)).toBe(false)
      expect(afterwards(failure)).toBe(failure)
    }
  })
})
