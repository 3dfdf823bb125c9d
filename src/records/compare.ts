/** Orders objects by these fields, the first of them first. An absent value is like an empty text. */
export function comparing<Name extends string>(
  names: readonly Name[],
): (left: { readonly [N in Name]?: string | number }, right: { readonly [N in Name]?: string | number }) => number {
  return (left, right) => {
    const differing = names.find((name) => left[name] !== right[name])
    return differing === undefined || (left[differing] ?? '') < (right[differing] ?? '') ? -1 : 1
  }
}
