/** A name of a vendor's without the date of its version at the end: reports and features have it, and requests may not. */
export function undated(name: string): string {
  return name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, '')
}
