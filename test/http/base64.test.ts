import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { base64Of } from '../../src/http/base64.ts'

test.each([0, 1, 2, 3, 4, 5, 64, 1_000])(
  'bytes in pieces of up to %i are encoded as they would be at once',
  async (most) => {
    const bytes = randomBytes(3_001)
    async function* pieces() {
      for (let at = 0; at < bytes.length;) {
        const size = Math.floor(Math.random() * (most + 1))
        yield bytes.subarray(at, at + size)
        at += Math.max(size, most === 0 ? 1 : 0)
        if (most === 0) yield bytes.subarray(at - 1, at)
      }
    }
    expect(await base64Of(pieces())).toBe(bytes.toString('base64'))
  },
)
