/** `modelhatch/console`: pages for operators and customers, over the admin API. */
import { pageFiles } from '#page'
import type { AdminApiOptions } from '../../src/admin/api/index.ts'
import { adminRules, checkAdminOptions } from '../../src/admin/api/options.ts'
import type { Gateway, Mountable } from '../../src/index.ts'
import { text, type Rule } from '../../src/records/known-options.ts'
import { assetsOf } from './assets.ts'
import type { SignIn } from './sign-in.ts'
import { Site } from './site.ts'

export { signInByLink, type SignIn, type SignInLink } from './sign-in.ts'

/** Options of `createConsole`. Those of the admin API apply to its pages, too; `authorize` is required. */
export interface ConsoleOptions extends AdminApiOptions {
  /** The name of the service, as the pages show it. Default: `Modelhatch`. */
  readonly title?: string
  /**
   * Where clients find the gateway, for the set-up instructions: a URL, or a path of the same origin such as `/ai`. Default:
   * the origin of the console, which can be changed on the page.
   */
  readonly gatewayUrl?: string
  /**
   * Where visitors sign in for whom `authorize` returns nothing: the URL or path of the host's own page, to which they are
   * sent, `signInByLink()`, or `signInByOidc()` of `modelhatch/oidc`. Default: they get a 404 that says that they are not signed in.
   */
  readonly signIn?: string | SignIn
}

/**
 * Makes the console of a gateway, to be mounted like the gateway itself. Everyone for whom `authorize` returns nothing gets
 * to `signIn`, or a 404. The files of the page are read with the first request. Throws a `TypeError` for invalid arguments.
 *
 * @example
 * ```ts
 * app.use('/console', mount(createConsole(gateway, { authorize }))) // Express
 * app.use(mount('/console', createConsole(gateway, { authorize }))) // Koa
 * ```
 */
export function createConsole(gateway: Gateway, options: ConsoleOptions): Mountable {
  checkAdminOptions('createConsole', options, { ...adminRules, title: text, gatewayUrl: url, signIn: signInRule })
  const { title = 'Modelhatch', gatewayUrl = '', signIn, ...ofApi } = options
  return new Site(gateway, ofApi, { title, gatewayUrl, signIn }, async () => assetsOf(await pageFiles()))
}

const url: Rule = { is: (value) => typeof value === 'string', must: 'must be a URL or a path' }
const signInRule: Rule = {
  is: (value) => url.is(value) || typeof Object(value).visit === 'function',
  must: 'must be a URL, a path, signInByLink() or signInByOidc()',
}
