/**
 * Data kept beside the project, in `../shared`: recordings of vendors, OpenAI's document, corpora. Without it the tests
 * that need it are skipped, and say so; where everything must be run they fail.
 */
import { existsSync, readFileSync } from 'node:fs'

const root = new URL('../../shared/', import.meta.url)

/** Whether there is such data: `describe.skipIf(!hasShared)`. Throws where a missing piece must not go unnoticed. */
export const hasShared: boolean = existsSync(root)

if (!hasShared && process.env['MODELHATCH_REQUIRE_ALL']) throw new Error(`the test data is missing: ${root.pathname}`)

/** The bytes of a file below `shared`, such as `recordings/openai/models.json`. */
export function sharedBytes(path: string): Buffer {
  return readFileSync(new URL(path, root))
}

export function sharedJson(path: string): unknown {
  return JSON.parse(sharedBytes(path).toString('utf8'))
}
