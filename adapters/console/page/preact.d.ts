/** What the page uses of Preact, with stricter types of `h`: elements and components are checked against their properties. */
import type { Attributes, ClassAttributes, ComponentChildren, JSX, LooseInputHTMLAttributes, VNode } from 'preact'

export type { ComponentChildren, JSX, VNode } from 'preact'
export { createContext, render } from 'preact'

type Component<P> = (properties: P) => ComponentChildren

export function h(tag: 'input', properties: LooseInputHTMLAttributes & ClassAttributes<HTMLInputElement>): VNode
export function h<Tag extends keyof JSX.IntrinsicElements>(
  tag: Tag,
  properties?: (JSX.IntrinsicElements[Tag] & Attributes) | null,
  ...children: ComponentChildren[]
): VNode
export function h<P extends object>(
  component: Component<P>,
  properties?: (Omit<P, 'children'> & Attributes) | null,
  ...children: ComponentChildren[]
): VNode
