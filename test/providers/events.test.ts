import { expect, test } from 'vitest'
import { readValues } from '../../src/providers/events.ts'

async function valuesOf(text: string): Promise<unknown[]> {
  async function* source() {
    yield Buffer.from(text)
  }
  const values: unknown[] = []
  for await (const batch of readValues(source())) values.push(...batch)
  return values
}

for (const [name, rest] of [
  ['the end of the stream', 'data: [DONE]'],
  ['the end of the stream, with a space', 'data: [DONE] '],
  ['the end of the stream, with a line end of Windows', 'data: [DONE]\r\n'],
  ['a broken event', 'data: {"b":'],
] as const) {
  test(`ignores ${name} without a blank line`, async () => {
    expect(await valuesOf(`data: {"a":1}\n\n${rest}`)).toEqual([{ a: 1 }])
  })
}

test('reads a last event without a blank line', async () => {
  expect(await valuesOf('data: {"a":1}\n\ndata: {"b":2}')).toEqual([{ a: 1 }, { b: 2 }])
})
