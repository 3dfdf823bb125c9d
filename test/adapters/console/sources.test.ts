/** The browser's files: what can be read off them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

// Not imported by name: the page has a compiler configuration of its own.
const dictionaryOf = async (code: string) => {
  const found = (await import(
    new URL(`../../../adapters/console/page/words/${code}.js`, import.meta.url).href
  )) as object
  return (found as Record<string, Record<string, string>>)[code] as Record<string, string>
}
const [en, zh] = await Promise.all([dictionaryOf('en'), dictionaryOf('zh')])
const folder = fileURLToPath(new URL('../../../adapters/console/', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /^page\/.*\.(?:js|css|svg)$/.test(name),
)
const texts = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const scripts = [...texts].filter(([name]) => name.endsWith('.js'))

describe('the files of the page', () => {
  test('import each other by relative paths that exist, and two libraries', () => {
    const found = scripts.flatMap(([name, text]) =>
      [...text.matchAll(/^import\b[^'"]*'([^']+)'|^\} from '([^']+)'|\bimport\('([^']+)'\)/gm)].map(
        ([, from, rest, dynamic]) => {
          const imported = from ?? rest ?? dynamic ?? ''
          return imported.startsWith('.') ? normalize(join(dirname(name), imported)) : imported
        },
      ),
    )
    expect(found.length).toBeGreaterThan(60)
    const libraries = ['preact', 'preact/hooks', 'uplot']
    expect(found.filter((imported) => !texts.has(imported) && !libraries.includes(imported))).toEqual([])
  })

  test('contain no HTML, no code made of text, and no other host', () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|\beval\(|new Function|document\.write|https?:\/\/(?!www\.w3\.org\/)/
    expect(scripts.filter(([, text]) => forbidden.test(text)).map(([name]) => name)).toEqual([])
  })

  test('have at most 300 lines, and name what they export', () => {
    const code = scripts.filter(([name]) => !name.startsWith('page/words/'))
    expect(code.filter(([name, text]) => name.endsWith('.js') && text.split('\n').length > 301)).toEqual([])
    expect(scripts.filter(([, text]) => /^export default\b/m.test(text)).map(([name]) => name)).toEqual([])
  })

  test('use every text of the dictionary', () => {
    const all = scripts
      .filter(([name]) => !name.startsWith('page/words/'))
      .map(([, text]) => text)
      .join('\n')
    const built = [...all.matchAll(/\bt\(`(\w+)_\$|\bnamed\('(\w+)'/g)].map(
      ([, template, prefix]) => `${template ?? prefix}_`,
    )
    const isUsed = (word: string) =>
      new RegExp(`['\`]${word}['\`]`).test(all) ||
      built.some((prefix) => word.startsWith(prefix)) ||
      new RegExp(`\\bt\\(${word}\\b|t\\((?:role|kind|title)\\)`).test(all)
    expect(Object.keys(en).filter((word) => !isUsed(word))).toEqual([])
  })
})

describe('each language', () => {
  const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([found]) => found).sort()

  test('has every text, with the same values in it', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
    for (const [word, text] of Object.entries(en))
      expect(placeholders(zh[word] ?? ''), word).toEqual(placeholders(text))
  })

  test('translates: few texts are the same in both', () => {
    const same = Object.entries(en).filter(([word, text]) => zh[word] === text)
    expect(same.map(([word]) => word)).toEqual(['csv'])
  })
})
