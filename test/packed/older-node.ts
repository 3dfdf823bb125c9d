/** Finds a Node.js on this machine that is too old for the gateway. */
import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface OlderNode {
  readonly path: string
  /** Such as `20.20.2`. */
  readonly version: string
}

/** Looks at `MODELHATCH_OLDER_NODE` and at every `node` on the path. */
export function olderNode(): OlderNode | undefined {
  const named = process.env['MODELHATCH_OLDER_NODE']
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  const found = folders.flatMap((folder) => [join(folder, 'node'), join(folder, 'nodejs')]).filter(existsSync)
  const files = new Set([...(named === undefined ? [] : [named]), ...found.map((file) => realpathSync(file))])
  for (const path of files) {
    const version = versionOf(path)
    if (version !== undefined && Number.parseInt(version, 10) < 22) return { path, version }
  }
  return undefined
}

function versionOf(path: string): string | undefined {
  try {
    const printed = execFileSync(path, ['--version'], { timeout: 5_000, encoding: 'utf8', stdio: 'pipe' })
    return /^v(\d+\.\d+\.\d+)/.exec(printed)?.[1]
  } catch {
    return undefined
  }
}
