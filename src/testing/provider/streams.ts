/** What a provider must make of streams, however they arrive, and of clients that leave. */
import assert from 'node:assert/strict'
import { beginFrames, sendApart } from '../scripted-vendor.ts'
import { assertCalls } from './answers.ts'
import type { Register } from './kit.ts'
import { everything, little } from './scripts.ts'

/** Questions under way at once where there is one for each byte. */
const parallel = 8

export function checkStreams(check: Register, { reasoning }: { reasoning: boolean }): void {
  check('a stream that arrives byte by byte tells the same', async (kit) => {
    const script = everything(reasoning)
    const bytes = Buffer.from(kit.dialect.stream(script).frames.join(''))
    const { told } = await kit.send(async (_, response) => {
      beginFrames(response)
      for (let at = 0; at < bytes.length; at++) await sendApart(response, bytes.subarray(at, at + 1))
      response.end()
    })
    assert.deepEqual([told.reasoning, told.content], [script.reasoning ?? '', script.text])
    assertCalls(told)
  })

  check('a stream with a call that arrives in two pieces, cut at every byte, tells the same', async (kit) => {
    const bytes = Buffer.from(kit.dialect.stream(little).frames.join(''))
    let next = 1
    const ask = () =>
      kit.send(async (_, response) => {
        const cut = next++
        await sendApart(beginFrames(response), bytes.subarray(0, cut))
        response.end(bytes.subarray(cut))
      })
    while (next < bytes.length) {
      const first = next
      const answers = await Promise.all(Array.from({ length: parallel }, ask))
      for (const { told } of answers) {
        const inputs = told.calls.map((call) => call.arguments)
        assert.deepEqual([told.content, inputs, told.finish], ['é', ['{"q":"☔"}'], 'tool_calls'], `near byte ${first}`)
      }
    }
  })

  check('pieces are handed on as they come', async (kit) => {
    const text = 'One two three four five six'
    const { frames } = kit.dialect.stream({ text })
    const half = Math.ceil(frames.length / 2)
    const first = Promise.withResolvers<void>()
    const seen = (piece: string) => void (piece.includes('One') && first.resolve())
    const { told } = await kit.send(
      async (_, response) => {
        beginFrames(response).write(frames.slice(0, half).join(''))
        await first.promise
        response.end(frames.slice(half).join(''))
      },
      {},
      true,
      { seen },
    )
    assert.equal(told.content, text)
  })

  check('the vendor is let go when the client has gone', async (kit) => {
    const left = Promise.withResolvers<void>()
    const client = new AbortController()
    const { frames } = kit.dialect.stream({ text: 'Hello' })
    const begun = frames.slice(0, frames.findIndex((frame) => frame.includes('Hello')) + 1)
    const asked = kit.send(
      (request, response) => {
        request.signal.addEventListener('abort', () => left.resolve())
        beginFrames(response).write(begun.join(''))
      },
      {},
      true,
      { signal: client.signal, seen: () => client.abort() },
    )
    // What a client that has gone was told is nobody's affair.
    await Promise.all([left.promise, asked.catch(() => undefined)])
  })

  check('a second close does no harm', async (kit) => {
    await kit.ask({ text: 'Yes.' }, false)
    await kit.provider.close?.()
    await kit.provider.close?.()
  })
}
