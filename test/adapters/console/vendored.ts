/**
 * The libraries of the console's page, as they are in `adapters/console/vendor`: the files of the packages, with imports that
 * a browser understands, and of uPlot only what the page uses. Run it after an update of the packages: `npm run console:vendor`.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))

export const vendorFolder: string = join(root, 'adapters/console/vendor')

/** Every file of the vendor folder that comes from a package, by name. */
export function vendoredFiles(): Map<string, string> {
  const read = (path: string) => readFileSync(join(root, 'node_modules', path), 'utf8')
  const script = (path: string) => read(path).replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n')
  // `/*!`: bundlers keep it.
  const note = (name: string) => `/*! ${name}, MIT License: ${/Copyright .*/.exec(read(`${name}/LICENSE`))?.[0]} */\n`
  return new Map([
    ['preact.js', note('preact') + script('preact/dist/preact.mjs')],
    ['preact-hooks.js', script('preact/hooks/dist/hooks.mjs').replace('from"preact"', 'from"./preact.js"')],
    ['preact.LICENSE', read('preact/LICENSE')],
    ['uplot.js', note('uplot') + usedParts(script('uplot/dist/uPlot.esm.js'))],
    ['uplot.LICENSE', read('uplot/LICENSE')],
  ])
}

/** Without the functions that are reachable as properties of `uPlot` only, so that the bundler drops those that the page does not use. */
function usedParts(script: string): string {
  const from = script.indexOf('\nuPlot.assign = assign;')
  if (from < 0) throw new Error('uPlot offers its functions in another way: adapt this')
  return `${script.slice(0, from)}\nuPlot.paths = { points, linear, bars };\n\nexport { uPlot };\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(vendorFolder, { recursive: true })
  for (const [name, text] of vendoredFiles()) writeFileSync(join(vendorFolder, name), text)
}
