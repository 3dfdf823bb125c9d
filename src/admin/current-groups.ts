import { invalid } from '../errors.ts'
import type { AdminServices } from './services.ts'

type Known = Pick<AdminServices, 'groups' | 'registry'>

/** The names of the groups, after those that administration has created were read. */
export async function currentGroups({ groups, registry }: Known): Promise<readonly string[]> {
  await registry?.live.read()
  return groups()
}

/** Throws a 400 unless there is a group of this name. */
export async function requireGroup(known: Known, group: string | undefined): Promise<void> {
  if (group === undefined) return
  const groups = await currentGroups(known)
  if (!groups.includes(group)) throw invalid(`"group" must be one of ${groups.join(', ')}.`, 'group')
}
