/** The fields with these names, without those that are absent. What else a record has may be its store's own. */
export function picked<Of extends object, Name extends keyof Of>(record: Of, names: readonly Name[]): Pick<Of, Name> {
  const made: { -readonly [Each in Name]?: Of[Each] } = {}
  for (const name of names) if (record[name] !== undefined) made[name] = record[name]
  return made as Pick<Of, Name>
}
