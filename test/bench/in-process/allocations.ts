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

/** The numbers of consecutive samples, and of the turns of `work` in each. */
const [samples, turns] = [10, 20]

/**
 * The allocations of each turn of `work`: of many samples the lowest. The engine allocates a few objects for a function when it
 * is first called, and others when it has been called often; an object of the function itself is in every sample.
 */
export async function allocationsOf(work: () => Promise<void>): Promise<Allocations> {
  const session = new Session()
  session.connect()
  let [all, observing] = [Infinity, Infinity]
  for (let taken = 0; taken < samples; taken++) {
    const sample = await sampleOf(session, work)
    all = Math.min(all, sample.all)
    observing = Math.min(observing, sample.observing)
  }
  session.disconnect()
  return { all, observing }
}

async function sampleOf(session: Session, work: () => Promise<void>): Promise<Allocations> {
  const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 1, ...collected })
  for (let done = 0; done < turns; done++) await work()
  const profile = (await session.post('HeapProfiler.stopSampling')).profile as unknown as Profile
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
