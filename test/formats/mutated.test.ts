/** Recorded bodies with something else in their places are read and written, or refused: nothing worse happens. */
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/conversation/json.ts'
import { partsOf } from '../../src/conversation/unfold.ts'
import { GatewayError } from '../../src/errors.ts'
import { bytesOf, recordedVendors, recordingsOf, requestOf } from '../providers/recordings.ts'
import { long } from '../long.ts'
import { seeded } from '../../src/testing/random.ts'
import { hasShared } from '../shared.ts'
import { asked, read, wire, written } from './laws.ts'
import { eventsIn, wireOf, wires, type Wire } from './recorded-wires.ts'
import { isNode, mutated, type Json } from './recorded.ts'

const runs = long ? 20_000 : 300
/** A body of some kilobytes takes a millisecond. */
const mostMs = 2_000

class VendorFailed extends Error {}

const all = Object.values(wires)
const recordings = recordedVendors.flatMap(recordingsOf).filter(({ status }) => status === 200)
const sourceOf = ({ maker }: Wire) => ({ maker, failure: () => new VendorFailed() })

describe.skipIf(!hasShared).each(Object.entries(wires))('mutants of %s', { timeout: 7_200_000 }, (name, spoken) => {
  const { format } = spoken
  const ours = recordings.filter((recording) => wireOf(recording) === wires[name])

  test('requests are refused with 400, or written for every vendor', () => {
    const bodies = ours.map(requestOf).filter((body) => body !== undefined)
    survive(
      bodies,
      (body) => {
        const conversation = format.readRequest(body)
        for (const { format: other, maker, traits } of all) {
          for (const taken of [traits, {}])
            attempt(isRefusal, () => {
              const to = { model: 'm', maker, traits: taken, omit: () => {} }
              wire(other.writeRequest(other.prepare?.(conversation, to).conversation ?? conversation, to))
            })
        }
      },
      isRefusal,
    )
  })

  test('answers are told as broken, or written for every client', () => {
    const bodies = ours.filter(({ stream }) => !stream).map((each) => parseJson(bytesOf(each).toString()))
    survive(
      bodies,
      (body) => {
        const answer = format.readAnswer(body, sourceOf(spoken))
        for (const { format: other } of all) {
          attempt(isFailure, () => wire(other.writeAnswer(answer, asked)))
          attempt(isFailure, () => written(other, partsOf(answer)).map(wire))
        }
      },
      isFailure,
    )
  })

  test('streams are told as broken, or written for every client', () => {
    survive(
      ours.filter(({ stream }) => stream).map(eventsIn),
      (events) => {
        const parts = read(format, events.filter(isNode), sourceOf(spoken))
        for (const { format: other } of all) attempt(isFailure, () => written(other, parts).map(wire))
      },
      isFailure,
    )
  })
})

function survive(bodies: readonly Json[], pass: (body: Json) => void, isExpected: (thrown: unknown) => boolean): void {
  const random = seeded(25)
  expect(bodies).not.toEqual([])
  for (let run = 0; run < runs; run++) {
    const mutant = mutated(bodies[Math.floor(random() * bodies.length)], random)
    const before = performance.now()
    try {
      attempt(isExpected, () => pass(mutant))
    } catch (thrown) {
      throw new Error(`run ${run}: ${JSON.stringify(mutant).slice(0, 2_000)}`, { cause: thrown })
    }
    expect(performance.now() - before, JSON.stringify(mutant).slice(0, 2_000)).toBeLessThan(mostMs)
  }
}

function attempt(isExpected: (thrown: unknown) => boolean, work: () => void): void {
  try {
    work()
  } catch (thrown) {
    if (!isExpected(thrown)) throw thrown
  }
}

function isRefusal(thrown: unknown): boolean {
  return GatewayError.is(thrown) && thrown.status === 400
}

function isFailure(thrown: unknown): boolean {
  return GatewayError.is(thrown) || thrown instanceof VendorFailed
}
