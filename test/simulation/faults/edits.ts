/** Faults by the file in which they are planted. What is found occurs exactly once in the file. */
export type Edits = Readonly<Record<string, readonly (readonly [name: string, find: string, replace: string])[]>>
