/** `npm run build`: the entries of the package with the chunks they share, their declarations, and the console's page. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown, type InputOptions, type Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { pageFiles } from './page.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

interface Target {
  readonly 'modelhatch-source': string
  readonly default: string
}

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, string | Target>>
}

/** The source of each entry and of the program, by the name of its file in `dist`. */
const input = {
  ...Object.fromEntries(
    Object.values(exports)
      .filter((target) => typeof target === 'object')
      .map((target) => [target.default.replace(/^\.\/dist\/(.*)\.js$/, '$1'), target['modelhatch-source']]),
  ),
  cli: './adapters/cli/cli.ts',
}

/** Of the package in this folder. */
const [, , folder = root] = process.argv
const dir = join(folder, 'dist')
rmSync(dir, { recursive: true, force: true })

const options: InputOptions = {
  cwd: root,
  platform: 'node',
  external: (id) => !/^[./#]/.test(id),
  // The functions have names: a comment for each source file would only make the package larger.
  experimental: { attachDebugInfo: 'none' },
}

/**
 * Escapes what is not ASCII: one such character is enough for Node to keep each character of a file in two bytes. Leaves out the
 * marks of calls without effects, which bundlers alone read.
 */
const ascii: Plugin = {
  name: 'ascii',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk' && file.fileName.endsWith('.js')) {
        file.code = file.code
          .replaceAll('/* @__PURE__ */ ', '')
          .replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      }
    }
  },
}

/** Leaves out the comments and the indentation of SQL and Lua, which would also be sent to databases. */
const statements: Plugin = {
  name: 'statements',
  transform: {
    filter: { id: /\/adapters\/stores\/.*(?<!\.d)\.ts$/ },
    handler: (code) => code.replaceAll(/^ *-- .*\n|^ +/gm, ''),
  },
}

/** The modules that an entry loads. */
async function modulesOf(name: string): Promise<ReadonlySet<string>> {
  const alone = Object.entries(input).filter(([entry]) => entry === name)
  const scanned = await rolldown({ ...options, input: Object.fromEntries(alone) })
  const { output } = await scanned.generate()
  await scanned.close()
  return new Set(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])))
}

// Every file costs time at start, and every app loads both of these: what they contain is in few chunks.
const [gateway, providers] = await Promise.all([modulesOf('index'), modulesOf('providers')])
const bundle = await rolldown({
  ...options,
  input,
  plugins: [dts({ cwd: root, oxc: { stripInternal: true } }), ascii, statements],
})
await bundle.write({
  dir,
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: {
    groups: [
      { name: 'gateway', test: (id) => gateway.has(id) },
      // The demo model and videos have code of their own that no other entry loads.
      {
        name: 'vendors',
        test: (id) => providers.has(id) && !/providers\/(?:demo|videos)\//.test(id),
        minShareCount: 2,
      },
      { name: 'hosts', test: /\/adapters\/hosts\/(?!.*\.d\.ts$)/, minShareCount: 2 },
    ],
  },
  comments: { jsdoc: false },
  minifyInternalExports: false,
})
await bundle.close()

for (const [path, bytes] of await pageFiles({ minify: true })) {
  const file = join(dir, 'console', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, bytes)
}
