/** The page as `npm run build` makes it for the package, in a folder of its own. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export interface Bundle {
  /** The folder with `page`, as `dist/adapters/console` is in the package. */
  readonly folder: URL
  readonly remove: () => void
}

export async function bundle(): Promise<Bundle> {
  const copy = mkdtempSync(join(tmpdir(), 'console-'))
  await buildConsole(copy)
  return {
    folder: pathToFileURL(`${join(copy, 'dist/adapters/console')}/`),
    remove: () => rmSync(copy, { recursive: true, force: true }),
  }
}

/** Runs the script of the package in a copy of it, which has no `node_modules`. */
export async function buildConsole(copy: string): Promise<void> {
  for (const name of ['package.json', 'tsconfig.json', 'adapters/console'])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH'] ?? ''}`
  await promisify(execFile)('npm', ['run', '--silent', 'build:console'], {
    cwd: copy,
    env: { ...process.env, PATH: path },
  })
}
