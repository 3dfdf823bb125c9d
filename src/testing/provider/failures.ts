/** What a provider must make of a vendor that refuses, fails, or falls silent in the middle. */
import assert from 'node:assert/strict'
import type { RefusalKind } from '../dialects/dialect.ts'
import type { Answer } from '../in-process.ts'
import { beginFrames, sendApart, sendFrames, sendJson } from '../scripted-vendor.ts'
import type { Register } from './kit.ts'
import { calls, secret } from './scripts.ts'

const refusals: readonly (readonly [RefusalKind, number, string])[] = [
  ['invalid', 400, 'invalid_request_error'],
  ['key', 503, 'service_unavailable'],
  ['empty account', 503, 'service_unavailable'],
  ['rate', 429, 'rate_limit_exceeded'],
  ['overloaded', 503, 'service_unavailable'],
  ['broken', 503, 'service_unavailable'],
]

export function checkFailures(check: Register): void {
  for (const [kind, status, code] of refusals) {
    check.both(`a refusal of the vendor (${kind}) becomes ${status} ${code}, in words of ours`, async (kit, stream) => {
      const { status: sent, body, headers } = kit.dialect.refusal(kind, secret)
      const answer = await kit.send((_, response) => sendJson(response, sent, body, headers), {}, stream)
      assert.deepEqual([answer.status, answer.told.error?.code], [status, code])
      if (kind === 'rate') assert.equal(answer.headers['retry-after'], '7')
      assertSilence(answer)
    })
  }

  check.both('an answer that is no JSON is an error, in words of ours', async (kit, stream) => {
    const answer = await kit.send((_, response) => sendJson(response, 200, `<html>${secret}`), {}, stream)
    assert.equal(answer.status, 503)
    assertSilence(answer)
  })

  check('an error in front of the first word is a status', async (kit) => {
    const answer = await kit.send((_, response) => sendFrames(response, [kit.dialect.errorFrame(secret)]))
    assert.equal(answer.status, 503)
    assertSilence(answer)
  })

  check('an error inside a stream ends it as an error, behind what came before it', async (kit) => {
    const { frames } = kit.dialect.stream({ text: 'Hello' })
    const begun = frames.slice(0, frames.findIndex((frame) => frame.includes('Hello')) + 1)
    const failed = [...begun, kit.dialect.errorFrame(secret)]
    const answer = await kit.send((_, response) => sendFrames(response, failed))
    const { content, finish, error } = answer.told
    assert.deepEqual([answer.status, content, finish, error?.code], [200, 'Hello', null, 'service_unavailable'])
    assertSilence(answer)
  })

  for (const manner of ['ended', 'cut'] as const) {
    check(`a stream that is ${manner} before the answer is complete is an error, wherever that is`, async (kit) => {
      const { frames, complete } = kit.dialect.stream({ text: 'Once upon a time', calls: calls.slice(0, 1) })
      for (let sent = 0; sent < complete; sent++) {
        const { told } = await kit.send(async (_, response) => {
          await sendApart(beginFrames(response), frames.slice(0, sent).join(''))
          if (manner === 'ended') response.end()
          else response.destroy()
        })
        assert.ok(told.error !== undefined, `${manner} after ${sent} events`)
        assert.equal(told.finish, null)
      }
    })
  }
}

function assertSilence({ text, headers }: Answer): void {
  assert.ok(!`${text}${JSON.stringify(headers)}`.includes(secret), 'the words of the vendor stay with the gateway')
}
