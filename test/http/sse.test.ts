import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { dataFrame, doneFrame, errorFrame, eventFrame, keepAliveFrame } from '../../src/http/sse.ts'

function read(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = []
  createParser({ onEvent: (event) => events.push(event) }).feed(text)
  return events
}

const hostile = fc.string({
  unit: fc.constantFrom('\r', '\n', '\r\n', '\n\n', 'data: ', ': ', '\u2028', '\u0000', '\ufeff', '👋', '\ud800'),
})

describe('frames', () => {
  it('contain one event, whatever its values contain', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const [event, ...others] = read(dataFrame({ text }))
        expect(JSON.parse(event?.data ?? '')).toEqual({ text })
        expect(others).toEqual([])
        expect(
          read(eventFrame('delta', { text })).map(({ event, data }) => [event, JSON.parse(data) as unknown]),
        ).toEqual([['delta', { text }]])
      }),
    )
  })

  it('of an error have the same body as an error response', () => {
    const error = new GatewayError('rate_limit_exceeded', { message: 'Wait.\n\ndata: [DONE]' })
    expect(read(errorFrame(error)).map(({ data }) => JSON.parse(data) as unknown)).toEqual([error.toJSON()])
  })

  it('for keep-alive are not events', () => {
    expect(read(keepAliveFrame + doneFrame)).toEqual([{ data: '[DONE]', event: undefined, id: undefined }])
  })
})
