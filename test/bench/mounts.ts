/** Where a server serves `/v1`: those in a framework below a path, as they are in service; the bare ones at the root. */
export function mountOf(kind: string): string {
  return kind === 'relay' || kind === 'node' ? '' : '/ai'
}
