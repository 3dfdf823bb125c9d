/** Finds facts in text: `my name is Ada`, `the code is 417`, `code=417`, `"code": 417`. */

/** All repetitions are bounded, because the text is untrusted. */
const forms = [
  /\b(?:my|the) (?<name>[a-z][\w -]{0,40}?) (?:is|are|was) (?:now )?(?<value>[^.,;!?\n]{1,100})/gi,
  /\b(?<name>[a-z][\w-]{0,40}) ?= ?(?<value>"[^"\n]{1,100}"|[^\s,;!?"]{1,100})/gi,
  /"(?<name>[a-z][\w -]{0,40})" ?: ?(?<value>"[^"\n]{1,100}"|[\w.+-]{1,100})/gi,
  /\b(?:call me|I am|I'm|I’m) (?<value>\p{Lu}[\p{L}'’-]{0,40})/gu,
]

/** The facts, keyed by lower-case name. A later fact replaces an earlier one of the same name. */
export function factsIn(texts: readonly string[]): Map<string, string> {
  const found = texts.flatMap((text) => forms.flatMap((form) => [...text.matchAll(form)]))
  return new Map(
    found.map(({ groups: { name = 'name', value = '' } = {} }) => {
      return [name.toLowerCase(), value.replace(/^"|"$|\.+$/g, '').trim()]
    }),
  )
}
