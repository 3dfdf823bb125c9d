/** The types of an SDK's requests, read from its declarations. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

type Node = { readonly type: string; readonly [name: string]: unknown }

interface Declared {
  readonly node: Node
  readonly scope: Scope
}

/** The names that are visible in a file or a namespace. */
interface Scope {
  readonly file: string
  readonly outer: Scope | undefined
  readonly names: Map<string, Declared[]>
}

const files = new Map<string, Scope>()

/**
 * The values of the members `type` of a type and of all types that it contains, except those below the members in `except`.
 * For a union of literals, its members.
 */
export function literalsIn(file: string, name: string, except: readonly string[] = []): ReadonlySet<string> {
  const found = new Set<string>()
  const seen = new Set<Node>()
  const visit = ({ node, scope }: Declared): void => {
    if (seen.has(node)) return
    seen.add(node)
    if (node.type === 'TSTypeReference' || node.type === 'TSInterfaceHeritage') {
      const path = pathOf((node['typeName'] ?? node['expression']) as Node)
      for (const declared of resolve(path, scope)) visit(declared)
    }
    if (node.type === 'TSLiteralType' && 'value' in (node['literal'] as object)) {
      const { value } = node['literal'] as { value: unknown }
      if (typeof value === 'string' && isWanted.at(-1) === true) found.add(value)
    }
    const member = node.type === 'TSPropertySignature' ? nameOf(node['key'] as Node) : undefined
    if (member !== undefined && except.includes(member)) return
    isWanted.push(member === undefined ? isWanted.at(-1) === true && !node.type.endsWith('Body') : member === 'type')
    for (const child of childrenOf(node)) visit({ node: child, scope })
    isWanted.pop()
  }
  const roots = resolve(name.split('.'), scopeOf(file))
  if (roots.length === 0) throw new Error(`${file} has no ${name}`)
  const isWanted = [roots[0]?.node.type === 'TSTypeAliasDeclaration']
  for (const root of roots) visit(root)
  return found
}

function scopeOf(file: string): Scope {
  let scope = files.get(file)
  if (scope === undefined) {
    files.set(file, (scope = { file, outer: undefined, names: new Map() }))
    const { body } = parseAst(readFileSync(file, 'utf8'), { lang: 'dts' }) as unknown as { body: Node[] }
    declare(body, scope)
  }
  return scope
}

function declare(statements: readonly Node[], scope: Scope): void {
  for (const statement of statements) {
    if (statement.type === 'ImportDeclaration') {
      for (const each of statement['specifiers'] as Node[]) add(scope, nameOf(each['local'] as Node), statement, scope)
    }
    const node = (statement['declaration'] ?? statement) as Node
    if (!/^TS(?:Interface|TypeAlias|Module)Declaration$/.test(node.type)) continue
    const name = nameOf(node['id'] as Node)
    if (node.type !== 'TSModuleDeclaration') add(scope, name, node, scope)
    else {
      const inner: Scope = { file: scope.file, outer: scope, names: new Map() }
      add(scope, name, node, inner)
      declare((node['body'] as { body: Node[] }).body, inner)
    }
  }
}

function add({ names }: Scope, name: string, node: Node, scope: Scope): void {
  names.set(name, [...(names.get(name) ?? []), { node, scope }])
}

/** The declarations of a name such as `Shared.Reasoning`; empty for the names of the language. */
function resolve([first = '', ...rest]: readonly string[], scope: Scope | undefined): Declared[] {
  if (scope === undefined) return []
  const declared = scope.names.get(first)
  if (declared === undefined) return resolve([first, ...rest], scope.outer)
  return declared.flatMap((each) => {
    if (each.node.type === 'ImportDeclaration') {
      const module = scopeOf(fileOf(each.node, scope.file))
      const isSpace = (each.node['specifiers'] as Node[]).some(
        (one) => one.type === 'ImportNamespaceSpecifier' && nameOf(one['local'] as Node) === first,
      )
      return resolve(isSpace ? rest : [first, ...rest], module)
    }
    if (each.node.type === 'TSModuleDeclaration') return rest.length === 0 ? [] : resolve(rest, each.scope)
    return rest.length === 0 ? [each] : []
  })
}

function fileOf({ source }: Node, from: string): string {
  const { value } = source as { value: string }
  return join(dirname(from), value.replace(/\.js$/, '.d.ts'))
}

function pathOf(node: Node): string[] {
  if (node.type === 'TSQualifiedName') return [...pathOf(node['left'] as Node), nameOf(node['right'] as Node)]
  return [nameOf(node)]
}

function nameOf({ name, value }: Node): string {
  return String(name ?? value)
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((each): each is Node => typeof each === 'object' && each !== null && 'type' in each)
}
