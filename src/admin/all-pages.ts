import type { Page, PageRequest } from '../records/page.ts'

/** The items of all pages of a list. */
export async function* all<T>(pageAt: (page: PageRequest) => Promise<Page<T>> | Page<T>): AsyncGenerator<T, void> {
  let after: string | undefined
  do {
    const page: Page<T> = await pageAt({ limit: 1_000, ...(after !== undefined && { after }) })
    yield* page.items
    after = page.next
  } while (after !== undefined)
}
