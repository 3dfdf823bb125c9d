/** `modelhatch/config`: the type of `modelhatch.config.ts`, which the program `modelhatch` reads. */
import type { GatewayOptions } from '../../src/index.ts'

/** How `modelhatch` serves the gateway. */
export interface ServerOptions {
  /** The port. Default: the environment variable `PORT`, else 3000. 0: any free port. */
  readonly port?: number
  /** The address to listen on. Default: the environment variable `HOST`, else `127.0.0.1`, which other machines cannot reach. */
  readonly host?: string
  /** The path of the gateway, such as `/ai` for `/ai/v1/chat/completions`. Default: none. */
  readonly path?: string
  /** Whether to serve the console below `/console`. The link that is printed at start signs one browser in. Default true. */
  readonly console?: boolean
}

/** The options of the gateway, and how it is served. */
export interface Config extends Omit<GatewayOptions, 'models'> {
  /** The models. Default: those of the vendors whose key is in the environment, else the demo models. */
  readonly models?: GatewayOptions['models']
  /** How the gateway is served. */
  readonly server?: ServerOptions
}

/**
 * Gives the configuration its type. Make it the default export of `modelhatch.config.ts`.
 *
 * @example
 * ```ts
 * export default defineConfig({
 *   models: { fast: openai({ apiKey: process.env['OPENAI_API_KEY'] }) },
 *   server: { port: 8080 },
 * })
 * ```
 */
export function defineConfig(config: Config): Config {
  return config
}
