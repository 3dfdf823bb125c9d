/** Debian's Chromium, for tests of pages. Where it is absent they are skipped, or fail if MODELHATCH_REQUIRE_ALL is set. */
import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

const chosen = process.env['MODELHATCH_CHROMIUM']
const places = chosen === undefined ? ['/usr/bin/chromium', '/usr/bin/chromium-browser'] : [chosen]
const found: string | undefined = places.find(existsSync)

if (found === undefined && process.env['MODELHATCH_REQUIRE_ALL'])
  throw new Error('Chromium is required here, and there is no /usr/bin/chromium: apt-get install chromium')

export const hasChromium: boolean = found !== undefined

export function launch(): Promise<Browser> {
  if (found === undefined) throw new Error('there is no Chromium')
  // Root cannot use the sandbox, and containers have little shared memory.
  return chromium.launch({ executablePath: found, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] })
}
