/** `modelhatch/console`: pages for operators and customers, over the admin API. */
import { pageFiles } from '#page'
import type { AdminApiOptions } from '../../src/admin/api/index.ts'
import type { Gateway, Mountable } from '../../src/index.ts'
import { checkKnown, text, type Rule } from '../../src/records/known-options.ts'
import { loadAssets } from './assets.ts'
import { Site } from './site.ts'

/** Options of `createConsole`. Those of the admin API apply to its pages, too; `authorize` is required. */
export interface ConsoleOptions extends AdminApiOptions {
  /** The name of the service, as the pages show it. Default: `Modelhatch`. */
  readonly title?: string
  /**
   * Where clients find the gateway, for the set-up instructions: a URL, or a path of the same origin such as `/ai`. Default:
   * the origin of the console, which can be changed on the page.
   */
  readonly gatewayUrl?: string
}

/**
 * Makes the console of a gateway, to be mounted like the gateway itself. Everyone for whom `authorize` returns nothing gets
 * a 404. The files of the page are read with the first request. Throws a `TypeError` for invalid arguments.
 *
 * @example
 * ```ts
 * app.use('/console', mount(createConsole(gateway, { authorize }))) // Express
 * app.use(mount('/console', createConsole(gateway, { authorize }))) // Koa
 * ```
 */
export function createConsole(gateway: Gateway, options: ConsoleOptions): Mountable {
  const { title = 'Modelhatch', gatewayUrl = '', ...ofApi } = Object(options) as ConsoleOptions
  checkKnown('createConsole', { title, gatewayUrl }, { title: text, gatewayUrl: url })
  return new Site(gateway, ofApi, { title, gatewayUrl }, async () => loadAssets(await pageFiles()))
}

const url: Rule = { is: (value) => typeof value === 'string', must: 'must be a URL or a path' }
