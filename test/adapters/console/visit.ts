/** Visits of the console by a browser. Whatever violates the CSP or throws on the page fails the test. */
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'

export interface Visit {
  readonly page: Page
  /** Goes to an address, such as `#/keys`, and waits until it has loaded. */
  readonly go: (address: string) => Promise<void>
  /** What broke on the page so far. */
  readonly faults: readonly string[]
  readonly end: () => Promise<void>
}

/** Opens the console at `url` as `who`: `admin`, or the name of an account. */
export async function visit(
  browser: Browser,
  url: string,
  who: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1_280, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  })
  await context.addCookies([{ name: 'who', value: who, url }])
  const faults: string[] = []
  await context.exposeFunction('reportFault', (fault: string) => void faults.push(fault))
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      ;(globalThis as unknown as { reportFault: (fault: string) => void }).reportFault(
        `CSP: ${violatedDirective} ${blockedURI}`,
      )
    })
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    if (reason !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${reason}`)
  })
  // A request to another host would be one that the CSP has let through.
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(url))
      faults.push(`another URL: ${request.url()}`)
  })
  await page.goto(url)
  return {
    page,
    faults,
    async go(address) {
      await page.goto(url + address)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await settled(page)
    },
    end: () => context.close(),
  }
}

/** Waits until nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await expect.poll(() => page.locator('.loading').count()).toBe(0)
}

/** Violations of accessibility rules, each as its rule and the elements. The script comes through the debugger, past the CSP. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: runner } = globalThis as unknown as { axe: typeof import('axe-core') }
    const found = await runner.run(document, { resultTypes: ['violations'] })
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    )
  })
}
