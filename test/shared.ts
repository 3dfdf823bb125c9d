/**
 * Test data beside the project, in `../shared`: vendor recordings, OpenAI's document, corpora. Without it the tests that
 * need it are skipped, or fail if MODELHATCH_REQUIRE_ALL is set.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../shared/', import.meta.url)

/** Whether the data is available: `describe.skipIf(!hasShared)`. */
export const hasShared: boolean = existsSync(root)

if (!hasShared && process.env['MODELHATCH_REQUIRE_ALL']) throw new Error(`the test data is missing: ${root.pathname}`)

/** The bytes of a file below `shared`, such as `recordings/openai/models.json`. */
export function sharedBytes(path: string): Buffer {
  return readFileSync(new URL(path, root))
}

export function sharedJson(path: string): unknown {
  return JSON.parse(sharedBytes(path).toString('utf8'))
}

/** The names in a folder below `shared`. */
export function sharedNames(path: string): string[] {
  return readdirSync(new URL(path, root))
}
