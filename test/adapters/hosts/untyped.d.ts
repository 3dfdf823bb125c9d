/** Types for the packages that have none, as far as they are used here. */
declare module 'express-v4' {
  export { default } from 'express'
}
declare module 'koa-v2' {
  export { default } from 'koa'
}
declare module 'compression' {
  import type { RequestHandler } from 'express'
  export default function compression(options?: { threshold?: number }): RequestHandler
}
declare module 'koa-mount' {
  import type { Middleware } from 'koa'
  export default function mount(path: string, middleware: Middleware): Middleware
}
declare module 'koa-bodyparser' {
  import type { Middleware } from 'koa'
  export default function bodyParser(): Middleware
}
