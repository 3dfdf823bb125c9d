/** The mount path of each server: a path for those in a framework, as in production, and the root for plain ones. */
export function mountOf(kind: string): string {
  return kind === 'relay' || kind === 'node' ? '' : '/ai'
}
