/**
 * Lets React work on a page that the browser translates. A translation replaces text nodes with `<font>` elements, or wraps them.
 * React keeps the text nodes: to remove one, or to insert before one, would fail, and to change one would not show.
 */
export function allowTranslation(root: Node): void {
  // What a translation has put in the place of a text node.
  const replacements = new WeakMap<Node, ChildNode>()
  const observer = new MutationObserver((records) => note(records))

  const note = (records: MutationRecord[]) => {
    for (const { type, target, removedNodes, addedNodes, previousSibling, nextSibling } of records) {
      // A text node that has left the page changes only if React changes it.
      if (type === 'characterData') putBack(target)
      const font = [...addedNodes, previousSibling, nextSibling].find((node) => node?.nodeName === 'FONT')
      if (font === undefined || font === null) continue
      for (const removed of removedNodes) {
        if (!(removed instanceof Text) || removed.isConnected) continue
        replacements.set(removed, font as ChildNode)
        observer.observe(removed, { characterData: true })
      }
    }
  }
  const putBack = (text: Node) => {
    const font = replacements.get(text)
    if (font?.isConnected) font.replaceWith(text)
    replacements.delete(text)
  }
  /** The child of a parent that a node is, is in, or was replaced with. */
  const childOf = (parent: Node, node: Node): ChildNode | undefined => {
    note(observer.takeRecords())
    let child: Node | null = replacements.get(node) ?? node
    while (child !== null && child.parentNode !== parent) child = child.parentNode
    return (child as ChildNode | null) ?? undefined
  }
  observer.observe(root, { childList: true, subtree: true })

  const { removeChild, insertBefore } = Node.prototype
  Node.prototype.removeChild = function <T extends Node>(this: Node, child: T): T {
    if (child.parentNode === this) return removeChild.call(this, child) as T
    childOf(this, child)?.remove()
    return child
  }
  Node.prototype.insertBefore = function <T extends Node>(this: Node, node: T, before: Node | null): T {
    const place = before === null || before.parentNode === this ? before : (childOf(this, before) ?? null)
    return insertBefore.call(this, node, place) as T
  }
}
