/** How a provider reads streams, however they are split, and ends with its client. */
import assert from 'node:assert/strict'
import { beginFrames, sendSeparately } from '../send.ts'
import { assertCalls } from './answers.ts'
import type { Register } from './kit.ts'
import { fullScript, shortScript } from './scripts.ts'

/** Requests at once in the test that sends one per byte. */
const parallel = 8

export function checkStreams(check: Register, { reasoning }: { reasoning: boolean }): void {
  check('a stream that arrives byte by byte is read correctly', async (kit) => {
    const script = fullScript(reasoning)
    const bytes = Buffer.from(kit.dialect.stream(script).frames.join(''))
    const { result } = await kit.send(async (_, response) => {
      beginFrames(response)
      for (let at = 0; at < bytes.length; at++) await sendSeparately(response, bytes.subarray(at, at + 1))
      response.end()
    })
    assert.deepEqual([result.reasoning, result.content], [script.reasoning ?? '', script.text])
    assertCalls(result)
  })

  check('a stream split in two at any byte is read correctly', async (kit) => {
    const bytes = Buffer.from(kit.dialect.stream(shortScript).frames.join(''))
    let next = 1
    const ask = () =>
      kit.send(async (_, response) => {
        const cut = next++
        await sendSeparately(beginFrames(response), bytes.subarray(0, cut))
        response.end(bytes.subarray(cut))
      })
    while (next < bytes.length) {
      const first = next
      const answers = await Promise.all(Array.from({ length: parallel }, ask))
      for (const { result } of answers) {
        const inputs = result.calls.map((call) => call.arguments)
        assert.deepEqual(
          [result.content, inputs, result.finish],
          ['é', ['{"q":"☔"}'], 'tool_calls'],
          `near byte ${first}`,
        )
      }
    }
  })

  check('each piece is passed on when it arrives', async (kit) => {
    const text = 'One two three four five six'
    const { frames } = kit.dialect.stream({ text })
    const half = Math.ceil(frames.length / 2)
    const first = Promise.withResolvers<void>()
    const onPiece = (piece: string) => void (piece.includes('One') && first.resolve())
    const { result } = await kit.send(
      async (_, response) => {
        beginFrames(response).write(frames.slice(0, half).join(''))
        await first.promise
        response.end(frames.slice(half).join(''))
      },
      {},
      true,
      { onPiece },
    )
    assert.equal(result.content, text)
  })

  check('the connection to the vendor is closed when the client disconnects', async (kit) => {
    const closed = Promise.withResolvers<void>()
    const client = new AbortController()
    const { frames } = kit.dialect.stream({ text: 'Hello' })
    const begun = frames.slice(0, frames.findIndex((frame) => frame.includes('Hello')) + 1)
    const pending = kit.send(
      (request, response) => {
        request.signal.addEventListener('abort', () => closed.resolve())
        beginFrames(response).write(begun.join(''))
      },
      {},
      true,
      { signal: client.signal, onPiece: () => client.abort() },
    )
    // The response to a client that has disconnected does not matter.
    await Promise.all([closed.promise, pending.catch(() => undefined)])
  })

  check('close may be called twice', async (kit) => {
    await kit.ask({ text: 'Yes.' }, false)
    await kit.provider.close?.()
    await kit.provider.close?.()
  })
}
