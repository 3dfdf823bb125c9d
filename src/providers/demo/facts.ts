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
  const facts = new Map<string, string>()
  for (const text of texts) {
    for (const form of forms) {
      for (const { groups = {} } of text.matchAll(form)) {
        const name = (groups['name'] ?? 'name').toLowerCase()
        const value = (groups['value'] ?? '').replace(/^"|"$|\.+$/g, '').trim()
        facts.set(name, value)
      }
    }
  }
  return facts
}

/** The facts whose names occur in a question. */
export function factsAskedFor(question: string, facts: ReadonlyMap<string, string>): [name: string, value: string][] {
  const words = ` ${question.toLowerCase().replace(/[^\p{L}\p{N}_-]+/gu, ' ')} `
  return [...facts].filter(([name]) => words.includes(` ${name} `))
}
