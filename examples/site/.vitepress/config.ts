/** The documentation site: the README files beside the code, and a reference made of the declarations. `npm run docs` builds it. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type DefaultTheme } from 'vitepress'

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const repository = 'https://github.com/modelhatch/modelhatch/blob/main'

/** The guides in groups, by the folders whose README they are. */
const groups: readonly (readonly [title: string, folders: readonly string[]])[] = [
  ['Start', ['', 'examples', 'adapters', 'adapters/cli']],
  [
    'Serve',
    [
      'src/gateway/options',
      'src/endpoints',
      'src/models',
      'src/providers',
      'src/routing',
      'src/inspect',
      'src/admission/cache',
      'src/tasks',
    ],
  ],
  ['Sell', ['src/callers', 'src/money', 'src/money/limits', 'src/admission/idempotency', 'src/admin', 'src/admin/api']],
  [
    'Operate',
    [
      'adapters/stores',
      'adapters/console',
      'src/observe',
      'src/observe/content',
      'adapters/telemetry',
      'adapters/agents',
    ],
  ],
  ['Extend', ['src/testing', 'src']],
]

const readmes = globSync('{README.md,{src,adapters,examples}/**/README.md}', { cwd: root })
const recipes = globSync('examples/site/recipes/*.md', { cwd: root }).sort()
const grouped = groups.flatMap(([, folders]) => folders.map((folder) => join(folder, 'README.md')))
const forgotten = readmes.filter((path) => !grouped.includes(path) && !path.includes('node_modules'))
if (forgotten.length > 0) throw new Error(`no group has ${forgotten.join(', ')}`)

/** Folders whose names say little without those above them. */
const renamed: Readonly<Record<string, string>> = { src: 'source', adapters: 'hosts', 'src/gateway/options': 'options' }

/** Where a file is on the site: `src/models/README.md` → `guides/models.md`, `examples/site/recipes/x.md` → `recipes/x.md`. */
function placeOf(path: string): string {
  const folder = /^(.+)\/README\.md$/.exec(path)?.[1]
  if (folder !== undefined) return `guides/${renamed[folder] ?? folder.replace(/^(?:src|adapters)\//, '')}.md`
  return path === 'README.md' ? 'index.md' : path.replace(/^examples\/site\//, '')
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function titleOf(path: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1]?.replaceAll('`', '') ?? path
}

function itemsOf(paths: readonly string[]): DefaultTheme.SidebarItem[] {
  return paths.map((path) => ({
    text: path === 'README.md' ? 'Overview' : titleOf(path),
    link: `/${placeOf(path).replace(/(?:index)?\.md$/, '')}`,
  }))
}

/** A link of a file in the repository as it is on the site; files that are not pages are shown in the repository. */
function linkOf(href: string, from: string): string {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#', 2)
  const target = posix.normalize(posix.join(posix.dirname(from), path))
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (readmes.includes(target) || recipes.includes(target))
    return `/${placeOf(target).replace(/(?:index)?\.md$/, '')}${hash}`
  return `${repository}/${target}${hash}`
}

export default defineConfig({
  title: 'modelhatch',
  description: 'An OpenAI-compatible AI gateway as middleware',
  srcDir: root,
  cacheDir: join(root, 'node_modules/.cache/vitepress'),
  outDir: join(root, 'dist/site'),
  srcExclude: ['node_modules/**', 'test/**', 'dist/**'],
  cleanUrls: true,
  rewrites: (path) => placeOf(path),
  markdown: {
    // Links name headings as GitHub does.
    anchor: { slugify: anchorOf },
    config(markdown) {
      markdown.core.ruler.push('links', ({ tokens, env }) => {
        const { path, realPath = path } = env as { path: string; realPath?: string }
        const from = posix.relative(root, realPath)
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null
          if (href !== null) token.attrSet('href', linkOf(href, from))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guides', link: '/' },
      { text: 'Recipes', link: '/recipes/litellm' },
      { text: 'Reference', link: '/reference/modelhatch' },
    ],
    sidebar: [
      ...groups.map(([text, folders]) => ({
        text,
        items: itemsOf(folders.map((folder) => join(folder, 'README.md'))),
      })),
      { text: 'Recipes', items: itemsOf(recipes) },
    ],
  },
})
