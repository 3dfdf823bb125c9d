/** Objects that the engine allocates, as its sampling profiler counts them at an interval of one byte: nearly every one. */
import { Session } from 'node:inspector/promises'

/** A part of the protocol's `HeapProfiler` that the types of Node lack. */
interface Place {
  readonly id: number
  readonly callFrame: { readonly url: string }
  readonly children: readonly Place[]
}

interface Profile {
  readonly head: Place
  readonly samples: readonly { readonly nodeId: number }[]
}

export interface Allocations {
  /** Objects per turn. */
  readonly all: number
  /** Objects per turn that the code of telemetry and its observers allocates itself. */
  readonly observing: number
}

/** The allocations of each of many turns of `work`. */
export async function allocationsOf(work: () => Promise<void>, turns: number): Promise<Allocations> {
  const session = new Session()
  session.connect()
  const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 1, ...collected })
  for (let done = 0; done < turns; done++) await work()
  const profile = (await session.post('HeapProfiler.stopSampling')).profile as unknown as Profile
  session.disconnect()
  const places = new Map<number, string>()
  const visit = ({ id, callFrame, children }: Place): void => {
    places.set(id, callFrame.url)
    children.forEach(visit)
  }
  visit(profile.head)
  const own = profile.samples.filter(({ nodeId }) =>
    /\/src\/observing\/|\/adapters\/telemetry\//.test(places.get(nodeId) ?? ''),
  )
  return { all: profile.samples.length / turns, observing: own.length / turns }
}
