/** The exported names of the package with their members, found by the compiler from the entries of package.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { API, SymbolFlags, type Checker, type Symbol, type Type } from 'typescript/unstable/sync'

const root = fileURLToPath(new URL('../', import.meta.url))
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { readonly 'modelhatch-source': string }>
}

export interface PublicName {
  /** Such as `createGateway`, `GatewayOptions`, `GatewayOptions.models`. */
  readonly name: string
  /** The file of its declaration. */
  readonly file: string
  /** What an editor shows on hover, without the type. */
  readonly text: string
}

export interface PublicNames {
  /** Entry such as `modelhatch/providers` → the names that it exports. */
  readonly entries: ReadonlyMap<string, readonly string[]>
  /** What is exported, and its members. */
  readonly names: readonly PublicName[]
}

export function publicNames(): PublicNames {
  const api = new API({ cwd: root })
  try {
    const project = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()[0]
    if (project === undefined) throw new Error('there is no tsconfig.json')
    const { checker, program } = project
    const walk = new Walk(checker)
    const entries = new Map<string, string[]>()
    const visited = new Set<number>()
    for (const [path, targets] of Object.entries(exports)) {
      if (typeof targets === 'string') continue
      const file = program.getSourceFile(join(root, targets['modelhatch-source']))
      const module = file && checker.getSymbolAtLocation(file)
      if (module === undefined) throw new Error(`nothing is exported by ${targets['modelhatch-source']}`)
      const exported = checker.getExportsOfModule(module)
      entries.set(path.replace('.', 'modelhatch'), exported.map(({ name }) => name).sort())
      for (const symbol of exported) {
        const declared = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
        if (!visited.has(declared.id)) walk.visit(declared)
        visited.add(declared.id)
      }
    }
    return { entries, names: walk.names }
  } finally {
    api.close()
  }
}

const named = SymbolFlags.Interface | SymbolFlags.Class | SymbolFlags.TypeAlias | SymbolFlags.Enum

class Walk {
  readonly names: PublicName[] = []
  readonly #checker: Checker
  readonly #reached = new Set<number>()

  constructor(checker: Checker) {
    this.#checker = checker
  }

  /** A declaration, and its members. */
  visit(symbol: Symbol): void {
    if (!this.#note(symbol, symbol.name)) return
    if (symbol.flags & named) this.#members(this.#checker.getDeclaredTypeOfSymbol(symbol), symbol.name)
    if (symbol.flags & SymbolFlags.Value) this.#unnamed(this.#checker.getTypeOfSymbol(symbol), symbol.name)
  }

  /** False for what is not declared here. */
  #note(symbol: Symbol, name: string): boolean {
    const file = symbol.declarations[0]?.path.slice(root.length)
    if (file === undefined || !/^(?:src|adapters)\//.test(file)) return false
    this.names.push({ name, file, text: symbol.getDocumentationComment(this.#checker) })
    return true
  }

  #members(type: Type, owner: string): void {
    if (type.isUnionType() || type.isIntersectionType()) {
      for (const each of type.getTypes()) this.#unnamed(each, owner)
      return
    }
    if (!type.isObjectType()) return
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const name = `${owner}.${property.name}`
      if (/^(?:#|__)|^prototype$/.test(property.name) || !this.#note(property, name)) continue
      this.#unnamed(this.#checker.getTypeOfSymbol(property), name)
    }
  }

  /** The members of a type that is written out where it is used. */
  #unnamed(type: Type | undefined, owner: string): void {
    if (type === undefined || this.#reached.has(type.id)) return
    this.#reached.add(type.id)
    for (const argument of type.getAliasTypeArguments()) this.#unnamed(argument, owner)
    if (type.isTypeReference()) for (const each of this.#checker.getTypeArguments(type)) this.#unnamed(each, owner)
    if (type.getAliasSymbol() !== undefined || (type.getSymbol()?.flags ?? 0) & named) return
    this.#members(type, owner)
  }
}
