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
  if (group !== undefined) requireOneOf(await currentGroups(known), group)
}

/** Throws a 400 for a group that is not among these. The message does not tell which others exist. */
export function requireOneOf(groups: readonly string[], group: string): void {
  if (groups.includes(group)) return
  const message = groups.length === 0 ? 'No group may be used here.' : `"group" must be one of ${groups.join(', ')}.`
  throw invalid(message, 'group')
}
