/** `modelhatch/admin`: `gateway.admin` over HTTP, for pages and scripts of the operator and of customers. */
export { adminApi } from './api.ts'
export type { AccountIdentity, AdminIdentity, Authorize, Identity } from './identity.ts'
export type { AdminApiOptions, AdminFailure } from './options.ts'
export type { AdministeredGateway } from './route.ts'
