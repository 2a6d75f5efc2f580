import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { Loaded, type LoadedQuery } from './Loaded.tsx'

interface Props<T> {
  one: string
  many: string
  query: LoadedQuery<T>
  onShowAll: () => void
  waiting?: ReactNode
  children: (record: T) => ReactNode
}

/** Shows a record, or the state of its query. Instead of one that does not exist, it offers the list. */
export function LoadedRecord<T>({ one, many, query, onShowAll, waiting = `Loading the ${one}…`, children }: Props<T>) {
  const missing = (
    <div className="state">
      <h2>This {one} does not exist</h2>
      <p>It was deleted, or the link is mistyped.</p>
      <Button className="button primary" onPress={onShowAll}>
        Show all {many}
      </Button>
    </div>
  )
  return (
    <Loaded query={query} title={`This ${one} cannot be shown`} missing={missing} waiting={waiting}>
      {children}
    </Loaded>
  )
}
