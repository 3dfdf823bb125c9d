import * as z from 'zod'
import { openApi } from './openapi.ts'
import { route, type Route } from './route.ts'

/** The route of the document about all routes. */
export function documentRoute(routes: () => readonly Route[]): Route {
  let document: object | undefined
  return route({
    method: 'GET',
    path: '/openapi.json',
    name: 'getOpenApi',
    summary: 'Returns this document.',
    role: 'account',
    produces: 'json',
    response: z.record(z.string(), z.unknown()),
    answer: () => (document ??= openApi(routes())),
  })
}
