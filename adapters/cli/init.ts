import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The servers that a new project can have: an example of the package each, and what it needs. */
export const hosts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  express: { express: '^5.0.0' },
  koa: { koa: '^3.0.0' },
  hono: { hono: '^4.0.0', '@hono/node-server': '^2.0.0' },
}

/** Writes a project into a folder. Throws an `Error` rather than replace a file. Returns the paths of its files. */
export function init(folder: string, host: string, version: string): readonly string[] {
  const dependencies = hosts[host]
  if (dependencies === undefined) {
    throw new Error(`There is no server "${host}". Choose one of ${Object.keys(hosts).join(', ')}.`)
  }
  const sources = [`${host}.ts`, 'models.ts', 'welcome.ts']
  const paths = ['package.json', ...sources].map((name) => join(folder, name))
  const existing = paths.find((path) => existsSync(path))
  if (existing !== undefined) throw new Error(`${existing} exists already. Choose an empty folder.`)
  mkdirSync(folder, { recursive: true })
  const examples = new URL('examples/', import.meta.resolve('modelhatch/package.json'))
  for (const name of sources) copyFileSync(new URL(name, examples), join(folder, name))
  const manifest = {
    name: basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-'),
    private: true,
    type: 'module',
    scripts: { start: `node --env-file-if-exists=.env ${host}.ts` },
    dependencies: { modelhatch: `^${version}`, ...dependencies },
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return paths
}
