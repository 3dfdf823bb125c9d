/** Visits of the console by a browser. Whatever violates the CSP or throws on the page fails the test. */
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'

export interface Visit {
  readonly page: Page
  /** Goes to an address, such as `#/keys`, and waits until it has loaded. */
  readonly go: (address: string) => Promise<void>
  /** What broke on the page so far. */
  readonly faults: readonly string[]
  readonly end: () => Promise<void>
}

/** The requests of each page that have not ended. Films are left out, which a browser loads as far as it likes. */
const running = new WeakMap<Page, Set<Request>>()

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
  const requests = new Set<Request>()
  running.set(page, requests)
  page.on('request', (request) => void (request.resourceType() !== 'media' && requests.add(request)))
  page.on('requestfinished', (request) => void requests.delete(request))
  page.on('requestfailed', (request) => void requests.delete(request))
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

/** Waits until nothing is loading, twice in a row: what has just loaded may load more. */
export async function settled(page: Page): Promise<void> {
  for (let calm = 0; calm < 2; calm++) {
    await page.evaluate(drawn)
    if ((running.get(page)?.size ?? 0) > 0 || (await page.locator('.loading').count()) > 0) calm = -1
  }
}

/** Runs in the page: resolves when it has drawn what has changed, and has run the effects of that, which load data. */
async function drawn(): Promise<void> {
  for (let frame = 0; frame < 3; frame++) {
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  }
}

/** Violations of accessibility rules, each as its rule and the elements. The script comes through the debugger, past the CSP. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: runner } = globalThis as unknown as { axe: typeof import('axe-core') }
    // Of WCAG 2.2, and therefore not on by itself.
    const rules = { 'target-size': { enabled: true } }
    const found = await runner.run(document, { resultTypes: ['violations'], rules })
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
    )
  })
}
