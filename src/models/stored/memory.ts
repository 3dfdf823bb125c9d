import type { RegistryEntry, RegistryStore } from './contract.ts'

/** Models, groups and prices in the memory of this process, which are lost on restart. */
export function memoryRegistryStore(): RegistryStore {
  const entries = new Map<string, RegistryEntry>()
  const watchers = new Set<() => void>()
  return {
    all: () => structuredClone([...entries.values()]),
    put(entry) {
      const name = `${entry.kind} ${entry.id}`
      if ((entries.get(name)?.version ?? 0) !== entry.version - 1) return false
      entries.set(name, structuredClone(entry))
      for (const changed of watchers) changed()
      return true
    },
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
  }
}
