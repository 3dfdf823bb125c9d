import { requireOneOf } from '../current-groups.ts'
import type { Identity } from './identity.ts'
import type { AdministeredGateway, AdminCall } from './route.ts'

/** The groups that an identity may use, in the order of the gateway. */
export async function groupsOf(gateway: AdministeredGateway, identity: Identity): Promise<readonly string[]> {
  const all = await gateway.admin.currentGroups()
  if (identity.role === 'admin') return all
  const own = new Set(identity.groups ?? (await groupsOfKeys(gateway, identity.account)))
  return all.filter((group) => own.has(group))
}

/** None if the key store cannot list keys. */
async function groupsOfKeys({ admin }: AdministeredGateway, account: string): Promise<readonly string[]> {
  return admin.offers().keys ? (await admin.keys.inUse(account)).groups : []
}

/** Throws a 400 for a group that the identity may not use. */
export async function requireGroup(call: Pick<AdminCall, 'groups'>, group: string | undefined): Promise<void> {
  if (group !== undefined) requireOneOf(await call.groups(), group)
}
