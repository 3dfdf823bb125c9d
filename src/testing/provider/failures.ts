/** How a provider handles vendors that reject requests, fail, or break off. */
import assert from 'node:assert/strict'
import type { ErrorKind } from '../dialects/dialect.ts'
import type { Answer } from '../in-process.ts'
import { beginFrames, sendFrames, sendJson, sendSeparately } from '../send.ts'
import type { Register } from './kit.ts'
import { calls, secret } from './scripts.ts'

const errors: readonly (readonly [ErrorKind, number, string])[] = [
  ['invalid', 400, 'invalid_request_error'],
  ['key', 503, 'service_unavailable'],
  ['empty account', 503, 'service_unavailable'],
  ['rate', 429, 'rate_limit_exceeded'],
  ['overloaded', 503, 'service_unavailable'],
  ['broken', 503, 'service_unavailable'],
]

export function checkFailures(check: Register): void {
  for (const [kind, status, code] of errors) {
    check.both(`the vendor error "${kind}" becomes ${status} ${code}, without any vendor text`, async (kit, stream) => {
      const { status: sent, body, headers } = kit.dialect.errorReply(kind, secret)
      const answer = await kit.send((_, response) => sendJson(response, sent, body, headers), {}, stream)
      assert.deepEqual([answer.status, answer.result.error?.code], [status, code])
      if (kind === 'rate') assert.equal(answer.headers['retry-after'], '7')
      assertNoSecret(answer)
    })
  }

  check.both('a response that is not JSON is an error, without its text', async (kit, stream) => {
    const answer = await kit.send((_, response) => sendJson(response, 200, `<html>${secret}`), {}, stream)
    assert.equal(answer.status, 503)
    assertNoSecret(answer)
  })

  check('a streamed error before the first content becomes an HTTP status', async (kit) => {
    const answer = await kit.send((_, response) => sendFrames(response, [kit.dialect.errorFrame(secret)]))
    assert.equal(answer.status, 503)
    assertNoSecret(answer)
  })

  check('an error in the middle of a stream ends it with an error, after the content so far', async (kit) => {
    const { frames } = kit.dialect.stream({ text: 'Hello' })
    const begun = frames.slice(0, frames.findIndex((frame) => frame.includes('Hello')) + 1)
    const failed = [...begun, kit.dialect.errorFrame(secret)]
    const answer = await kit.send((_, response) => sendFrames(response, failed))
    const { content, finish, error } = answer.result
    assert.deepEqual([answer.status, content, finish, error?.code], [200, 'Hello', null, 'service_unavailable'])
    assertNoSecret(answer)
  })

  for (const manner of ['ended', 'cut'] as const) {
    check(`a stream that is ${manner} before the response is complete is an error, after any frame`, async (kit) => {
      const { frames, complete } = kit.dialect.stream({ text: 'Once upon a time', calls: calls.slice(0, 1) })
      for (let sent = 0; sent < complete; sent++) {
        const { result } = await kit.send(async (_, response) => {
          await sendSeparately(beginFrames(response), frames.slice(0, sent).join(''))
          if (manner === 'ended') response.end()
          else response.destroy()
        })
        assert.ok(result.error !== undefined, `${manner} after ${sent} frames`)
        assert.equal(result.finish, null)
      }
    })
  }
}

function assertNoSecret({ text, headers }: Answer): void {
  assert.ok(!`${text}${JSON.stringify(headers)}`.includes(secret), "the vendor's text reached the client")
}
