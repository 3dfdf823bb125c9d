/** The version of the installed table, and the day of its data. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const packageName = '@pydantic/genai-prices'

/** When versions were published. The table itself has no date. */
const published: Readonly<Record<string, string>> = { '0.1.8': '2026-09-23' }

/** The version and its day, as far as they are known. */
export interface Release {
  readonly name: string
  readonly date: string | undefined
}

/** The installed release. Bundlers may leave out its manifest; then the version is unknown. */
export function installedRelease(): Release {
  try {
    const main = createRequire(import.meta.url).resolve(packageName)
    const { version } = JSON.parse(readFileSync(join(dirname(main), '..', 'package.json'), 'utf8')) as {
      version: string
    }
    return { name: `${packageName} ${version}`, date: published[version] }
  } catch {
    return { name: packageName, date: undefined }
  }
}
