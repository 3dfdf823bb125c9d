/** Bundles the page of the console: for the package, and at the first request to a console that runs from the sources. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'

const page = new URL('../adapters/console/page/', import.meta.url)

/** By `minify`: bundling takes half a second of CPU, and tests open many consoles. */
const bundles = new Map<boolean, Promise<Map<string, Uint8Array>>>()

/** The files by their path, bundled once in a process. */
export function pageFiles({ minify = false } = {}): Promise<Map<string, Uint8Array>> {
  let files = bundles.get(minify)
  if (files === undefined) bundles.set(minify, (files = bundled(minify)))
  return files
}

async function bundled(minify: boolean): Promise<Map<string, Uint8Array>> {
  // A console that runs from the sources imports this file, and imports must change nothing in the process.
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: fileURLToPath(new URL('main.js', page)),
    platform: 'browser',
    plugins: [onlyUsed],
  })
  const libraries = ['preact', 'uplot'].map(libraryOf)
  const notices = libraries.map(({ name, copyright }) => `/*! ${name}, MIT License: ${copyright} */\n`).join('')
  const { output } = await bundle.generate({
    minify,
    chunkFileNames: 'words/[name].js',
    postBanner: ({ isEntry }) => (isEntry ? notices : ''),
  })
  await bundle.close()
  const read = (path: string) => readFileSync(new URL(path, page), 'utf8')
  const styles = readdirSync(new URL('style/', page)).sort()
  const texts = new Map([
    ...output.map((file): [string, string] => [file.fileName, file.type === 'chunk' ? file.code : String(file.source)]),
    ['early.js', read('early.js').replace(/^ *\/\/.*\n/gm, '')],
    ['icon.svg', read('icon.svg')],
    ['style.css', short(styles.map((name) => read(`style/${name}`)).join('\n'))],
    ['licenses.txt', libraries.map(({ name, license }) => `${name}\n\n${license}`).join('\n')],
  ])
  return new Map([...texts].map(([path, text]) => [path, Buffer.from(text)]))
}

function libraryOf(name: string): { name: string; license: string; copyright: string | undefined } {
  const folder = dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)))
  const license = readFileSync(`${folder}/LICENSE`, 'utf8')
  return { name, license, copyright: /Copyright .*/.exec(license)?.[0] }
}

function short(styles: string): string {
  return styles
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
}

/** uPlot's functions are also properties of `uPlot`, so that no bundler can drop those that the page does not use: 4 kB. */
const onlyUsed: Plugin = {
  name: 'only-used',
  transform: {
    filter: { id: /uPlot\.esm\.js$/ },
    handler(code) {
      const from = code.indexOf('\nuPlot.assign = assign;')
      if (from < 0) throw new Error('uPlot offers its functions in another way: adapt this')
      return `${code.slice(0, from)}\nuPlot.paths = { points, linear, bars };\nexport default uPlot;\n`
    },
  },
}
