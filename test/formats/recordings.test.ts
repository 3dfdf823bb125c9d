/** What vendors and their clients have sent means the same after it was read and written, with fields that nobody knows. */
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/conversation/json.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import { bytesOf, recordedVendors, recordingsOf, requestOf } from '../providers/recordings.ts'
import { hasShared } from '../shared.ts'
import { from, read, wire, written } from './laws.ts'
import { eventsIn, wireOf, type Wire } from './recorded-wires.ts'
import { differences, withFurther, withoutEmpty, type Json } from './recorded.ts'

/** Calls in pieces that only their vendor joins; they have tests of their own. */
const ofTheirOwn: ReadonlySet<string> = new Set(['partial-args-stream.sse', 'anthropic-tool-index-1-stream.sse'])

const all = recordedVendors.flatMap(recordingsOf).flatMap((recording) => {
  const spoken = wireOf(recording)
  return spoken === undefined ? [] : [{ name: `${recording.vendor}/${recording.file}`, recording, spoken }]
})

describe.skipIf(!hasShared)('recorded bodies mean the same after they were read and written', () => {
  const requests = all.flatMap(({ name, recording, spoken }) => {
    const body = requestOf(recording)
    return body === undefined ? [] : [{ name, body, spoken }]
  })

  test.each(requests)('the request of $name', ({ body, spoken }) => {
    const before = withFurther(spoken.plain?.(body) ?? body, spoken.request)
    const { format, maker, traits } = spoken
    const to = { model: before.model, maker, traits, omit: () => {} }
    expect(changes(spoken, before, wire(format.writeRequest(format.readRequest(wire(before)), to)))).toEqual([])
  })

  const answers = all.filter(
    ({
      recording: {
        file,
        expect: { error },
      },
    }) => error === undefined && !ofTheirOwn.has(file),
  )

  test.each(answers.filter(({ recording }) => !recording.stream))('the answer $name', ({ recording, spoken }) => {
    const before = withFurther(parseJson(bytesOf(recording).toString()), spoken.answer)
    const { format, maker, whole } = spoken
    const answer = format.readAnswer(wire(before), { ...from, maker })
    const to = spoken.asked(before)
    const after = wire(format.writeAnswer(answer, to))
    expect(changes(spoken, before, after)).toEqual([])
    expect(changes(spoken, after, whole(written(format, partsOf(answer), to).map(wire)))).toEqual([])
  })

  test.each(answers.filter(({ recording }) => recording.stream))('the stream $name', ({ recording, spoken }) => {
    const { format, maker, whole } = spoken
    const events = eventsIn(recording).map((event) => withFurther(event, spoken.event))
    const before = whole(events)
    const parts = read(format, events, { ...from, maker })
    const after = whole(written(format, parts, spoken.asked(before)).map(wire))
    expect(changes(spoken, before, after)).toEqual([])
  })
})

/** What a call costs the host is left out. */
const costs = /^usage\.(?:cost|is_byok)\w*: .* became undefined$/

function changes({ same }: Wire, before: Json, after: Json): string[] {
  const changed = differences(withoutEmpty(before), withoutEmpty(after)).filter((each) => !costs.test(each))
  return changed.filter((each) => !same.some((way) => way.test(each)))
}
