/** Where the coding agents are installed. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const sources = new URL('programs/', import.meta.url)

/** The files that name the programs, their versions and the hashes of their packages. */
export const manifests: readonly { readonly name: string; readonly text: string }[] = [
  'package.json',
  'package-lock.json',
].map((name) => ({ name, text: readFileSync(new URL(name, sources), 'utf8') }))

const version = createHash('sha256')
  .update(manifests.map(({ text }) => text).join())
  .digest('hex')

/** Outside of the project, because the programs weigh hundreds of megabytes. */
export const folder: string = join(
  process.env['MODELHATCH_AGENTS_FOLDER'] ?? join(homedir(), '.cache', 'modelhatch-agents'),
  version.slice(0, 16),
)

export const names = ['claude', 'codex', 'copilot', 'gemini', 'opencode', 'qwen'] as const

/** The path of a program. */
export function program(name: (typeof names)[number]): string {
  return join(folder, 'node_modules', '.bin', name)
}

export function isInstalled(): boolean {
  return existsSync(folder)
}
